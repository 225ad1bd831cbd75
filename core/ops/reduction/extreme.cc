// Largest and smallest elements, where they stand, and whether any or all are true.
#include "core/kernels/reduction.h"
#include "core/ops/reduction/axes.h"

namespace dragon {
namespace {

void RefuseComplex(const CallReader& c) {
  if (c.x(0).is_complex()) throw TypeError(c.name()).Got(c.x(0).dtype()).Expected("a dtype with an order");
}

// --- amax and amin: any axes, ties share the gradient

void InferExtreme(Infer& i) {
  RefuseComplex(i);
  const Dims axes = AxesOf(i);
  RefuseEmpty(i, axes);
  i.y(0, ReducedShape(i.x(0).shape(), axes, i.Bool("keepdims")), i.x(0).dtype());
}

/// What arrives is divided where it is smallest, among the results, and each tie's places get one share.
void ExtremeGradient(Grad& g) {
  const Dims axes = AxesOf(g);
  if (axes.empty()) return g.dx(0, g.dy());
  const Dims& shape = g.x_shape(0);
  const bool keeps = g.Bool("keepdims");
  const Tensor at = Op<"eq">(g.x(0), Unreduced(g.y(), shape, axes, keeps));
  const Tensor share = Unreduced(g.dy(), shape, axes, keeps) / Op<"sum">(at, axes, /*keepdims=*/true);
  g.dx(0, Op<"where">(at, share, share * 0.0));  // 0, but NaN where the result is NaN, which is equal to nothing
}

/// Two operators that differ in their kernels, which reduce any axes.
template <typename K>
Operator& Reduction(const std::string& name, const char* doc, const K& kernel) {
  return DefineOp(name + "(Tensor x, int[1]? axis=None, bool keepdims=False) -> Tensor")
      .Doc(doc)
      .Batches(Batching::kRows, "axis")
      .Runs([&kernel](Run& r) { kernel(r.ctx(), r.dtype(), Kept(r.y(), r.x(0).shape(), AxesOf(r)), r.in(0)); });
}

[[maybe_unused]] const auto& amax =
    Reduction("amax", "The largest element along axes, or of all; NaN if there is one.", kernels::Amax)
        .Infers(InferExtreme)
        .Gradient("x, out", ExtremeGradient);

[[maybe_unused]] const auto& amin =
    Reduction("amin", "The smallest element along axes, or of all; NaN if there is one.", kernels::Amin)
        .Infers(InferExtreme)
        .Gradient("x, out", ExtremeGradient);

[[maybe_unused]] const auto& max =
    DefineOp("max(Tensor x) -> Tensor").Doc("The largest of all elements.").As([](const CallReader& c) -> Tensors {
      return {Op<"amax">(c.x(0))};
    });
[[maybe_unused]] const auto& min =
    DefineOp("min(Tensor x) -> Tensor").Doc("The smallest of all elements.").As([](const CallReader& c) -> Tensors {
      return {Op<"amin">(c.x(0))};
    });

[[maybe_unused]] const auto& aminmax =
    DefineOp("aminmax(Tensor x, *, int? axis=None, bool keepdims=False) -> (Tensor min, Tensor max)")
        .Doc("The smallest and the largest element along an axis, or of all.")
        .As([](const CallReader& c) -> Tensors {
          const Value axis = c.Given("axis") ? Value(Dims{c.Int("axis")}) : Value();
          return {Op<"amin">(c.x(0), axis, c.Bool("keepdims")), Op<"amax">(c.x(0), axis, c.Bool("keepdims"))};
        });

// --- one axis, with positions

Dims OneAxis(const CallReader& c) { return NormalizeAxes(c.name(), Dims{c.Int("axis")}, c.x(0).ndim()); }

void InferPlaced(Infer& i) {
  RefuseComplex(i);
  const Dims axes = OneAxis(i), shape = ReducedShape(i.x(0).shape(), axes, i.Bool("keepdims"));
  RefuseEmpty(i, axes);
  i.y(0, shape, i.x(0).dtype());
  i.y(1, shape, DType::kInt64);
}

/// dy goes to the places that the results were taken from.
void PlacedGradient(Grad& g) {
  const Dims& shape = g.x_shape(0);
  if (shape.empty()) return g.dx(0, g.dy());
  const Dims axes = NormalizeAxes(g.name(), Dims{g.Int("axis")}, shape.size());
  const Tensor slope = Unreduced(g.dy(), shape, axes, g.Bool("keepdims")),
               place = Unreduced(g.y(1), shape, axes, g.Bool("keepdims"));
  const Dims wide = ReducedShape(shape, axes, /*keepdims=*/true);
  const Tensor zeros = Op<"zeros">(shape, g.x_dtype(0), g.dy().device());
  g.dx(0, Op<"scatter_add">(zeros, axes[0], Op<"reshape">(place, wide), Op<"reshape">(slope, wide)));
}

template <typename K>
Operator& Placed(const std::string& name, const char* doc, const K& kernel) {
  return DefineOp(name + "(Tensor x, int axis, bool keepdims=False) -> (Tensor values, Tensor indices)")
      .Doc(doc)
      .Batches(Batching::kRows, "axis")
      .Infers(InferPlaced)
      .Runs([&kernel](Run& r) {
        const Dims axes = OneAxis(r), &shape = r.x(0).shape();
        kernel(r.ctx(), r.dtype(), Kept(r.y(0), shape, axes), Kept(r.y(1), shape, axes), r.in(0));
      })
      .Gradient("indices", PlacedGradient);
}
[[maybe_unused]] const auto& max_axis =
    Placed("max_axis", "The largest elements along an axis and the first places they stand at.", kernels::ArgMax);
[[maybe_unused]] const auto& min_axis =
    Placed("min_axis", "The smallest elements along an axis and the first places they stand at.", kernels::ArgMin);

Dims PlaceAxes(const CallReader& c) {
  return c.Given("axis") ? OneAxis(c) : NormalizeAxes(c.name(), {}, c.x(0).ndim());
}

void InferPlace(Infer& i) {
  RefuseComplex(i);
  const Dims axes = PlaceAxes(i);
  RefuseEmpty(i, axes);
  i.y(0, ReducedShape(i.x(0).shape(), axes, i.Bool("keepdims")), DType::kInt64);
}

template <typename K>
Operator& Place(const std::string& name, const char* doc, const K& kernel) {
  return DefineOp(name + "(Tensor x, int? axis=None, bool keepdims=False) -> Tensor")
      .Doc(doc)
      .Batches(Batching::kRows, "axis")
      .Infers(InferPlace)
      .Runs(
          [&kernel](Run& r) { kernel(r.ctx(), r.dtype(), View{}, Kept(r.y(), r.x(0).shape(), PlaceAxes(r)), r.in(0)); })
      .NotDifferentiable();
}
[[maybe_unused]] const auto& argmax = Place(
    "argmax", "The first place of the largest element along an axis, or in row-major order of all.", kernels::ArgMax);
[[maybe_unused]] const auto& argmin = Place(
    "argmin", "The first place of the smallest element along an axis, or in row-major order of all.", kernels::ArgMin);

// --- truth; PyTorch answers uint8 with uint8

void InferTruth(Infer& i) {
  const DType dtype = i.x(0).dtype() == DType::kUInt8 ? DType::kUInt8 : DType::kBool;
  i.y(0, ReducedShape(i.x(0).shape(), AxesOf(i), i.Bool("keepdims")), dtype);
}

[[maybe_unused]] const auto& any = Reduction("any", "Whether any element along axes is not zero.", kernels::Any)
                                       .Infers(InferTruth)
                                       .NotDifferentiable();
[[maybe_unused]] const auto& all =
    Reduction("all", "Whether no element along axes is zero.", kernels::All).Infers(InferTruth).NotDifferentiable();

}  // namespace
}  // namespace dragon
