// Views that see the same bytes as another dtype: complex numbers as pairs and back, and plain reinterpretation.
#include "core/framework/infer.h"
#include "core/ops/array/geometry.h"

namespace dragon {
namespace {

void SetAsReal(ViewOf& v) {
  const Tensor& x = v.x(0);
  if (!x.is_complex()) throw TypeError(v.name()).Got(x.dtype()).Expected("a complex dtype");
  Geometry to = GeometryOf(x);
  for (int64_t& stride : to.strides) stride *= 2;
  to.shape.push_back(2);
  to.strides.push_back(1);
  to.offset *= 2;
  v.dtype = RealDType(x.dtype());
  Set(v, std::move(to));
}

void SetAsComplex(ViewOf& v) {
  const Tensor& x = v.x(0);
  if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) {
    throw TypeError(v.name()).Got(x.dtype()).Expected("float32 or float64");
  }
  Geometry to = GeometryOf(x);
  bool pairs = x.ndim() > 0 && to.shape.back() == 2 && to.strides.back() == 1 && to.offset % 2 == 0;
  for (int axis = 0; pairs && axis + 1 < x.ndim(); ++axis) pairs = to.shape[axis] <= 1 || to.strides[axis] % 2 == 0;
  if (!pairs) {
    throw ValueError(v.name())
        .Got("shape ", x.shape(), " at strides ", x.strides(), " from ", x.offset())
        .Expected("pairs: a last axis of size 2 and stride 1, everything else at even places");
  }
  to.shape.pop_back();
  to.strides.pop_back();
  for (int64_t& stride : to.strides) stride /= 2;
  to.offset /= 2;
  v.dtype = ComplexDType(x.dtype());
  Set(v, std::move(to));
}

/// Other item sizes make the last axis longer or shorter, as in NumPy.
void SetAsDType(ViewOf& v) {
  const Tensor& x = v.x(0);
  Geometry to = GeometryOf(x);
  v.dtype = v.attr("dtype").dtype();
  const int64_t from_size = ItemSize(x.dtype()), to_size = ItemSize(v.dtype);
  if (from_size == to_size) return Set(v, std::move(to));
  const int64_t ratio = std::max(from_size, to_size) / std::min(from_size, to_size);
  bool fits = x.ndim() > 0 && (to.strides.back() == 1 || to.shape.back() == 1);
  if (from_size < to_size) {
    fits = fits && to.shape.back() % ratio == 0 && to.offset % ratio == 0;
    for (int axis = 0; fits && axis + 1 < x.ndim(); ++axis) fits = to.shape[axis] <= 1 || to.strides[axis] % ratio == 0;
  }
  if (!fits) {
    throw ValueError(v.name())
        .Got(x.dtype(), " of shape ", x.shape(), " at strides ", x.strides())
        .Expected("a last axis of stride 1 that makes whole elements of ", v.dtype);
  }
  const auto scale = [&](int64_t value) { return from_size < to_size ? value / ratio : value * ratio; };
  for (int axis = 0; axis + 1 < x.ndim(); ++axis) to.strides[axis] = scale(to.strides[axis]);
  to.shape.back() = scale(to.shape.back());
  to.strides.back() = 1;
  to.offset = scale(to.offset);
  Set(v, std::move(to));
}

[[maybe_unused]] const auto& view_as_real =
    DefineOp("view_as_real(Tensor x) -> Tensor")
        .Doc("A view of complex numbers as a last axis of real and imaginary parts.")
        .Batches(Batching::kRows)
        .Views(SetAsReal)
        .Gradient("", [](Grad& g) { g.dx(0, Op<"view_as_complex">(Op<"contiguous">(g.dy()))); });

[[maybe_unused]] const auto& view_as_complex = DefineOp("view_as_complex(Tensor x) -> Tensor")
                                                   .Doc("A view of a last axis of pairs as complex numbers.")
                                                   .Batches(Batching::kRows)
                                                   .Autocast(Precision::kFloat32)
                                                   .Views(SetAsComplex)
                                                   .Gradient("", [](Grad& g) { g.dx(0, Op<"view_as_real">(g.dy())); });

[[maybe_unused]] const auto& real = DefineOp("real(Tensor x) -> Tensor")
                                        .Doc("View of the real parts; a real tensor itself.")
                                        .As([](const CallReader& c) -> Tensors {
                                          if (!c.x(0).is_complex()) return {Op<"view">(c.x(0), c.x(0).shape())};
                                          return {Op<"select">(Op<"view_as_real">(c.x(0)), -1, 0)};
                                        });

[[maybe_unused]] const auto& imag =
    DefineOp("imag(Tensor x) -> Tensor").Doc("View of the imaginary parts.").As([](const CallReader& c) -> Tensors {
      return {Op<"select">(Op<"view_as_real">(c.x(0)), -1, 1)};
    });

[[maybe_unused]] const auto& view_dtype = DefineOp("view_dtype(Tensor x, dtype dtype) -> Tensor")
                                              .Doc("A view of the same bytes as another dtype.")
                                              .Batches(Batching::kRows)
                                              .Views(SetAsDType)
                                              .NotDifferentiable();

}  // namespace
}  // namespace dragon
