// Ordering along an axis: every operator gives values and the places they came from, and its gradient goes back there.
#include "core/kernels/sort.h"

#include <limits>

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

/// The gradient of values that were picked from x at `indices` (of the same shape) along an axis.
void PickedGradient(Grad& g, int64_t axis, const Tensor& indices, const Tensor& dy) {
  const Tensor zeros = Op<"zeros">(g.x_shape(0), dy.dtype(), dy.device());
  g.dx(0, Op<"scatter_into">(zeros, axis, indices, dy, "add"));
}

int64_t KernelAxis(const CallReader& c, int64_t axis) { return NormalizeAxis(c.name(), axis, c.x(0).ndim()); }

void InferPair(Infer& i, const Dims& shape) {
  if (i.x(0).is_complex()) throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("numbers that have an order");
  i.y(0, shape, i.x(0).dtype());
  i.y(1, shape, DType::kInt64);
}

[[maybe_unused]] const auto& sort =
    DefineOp("sort(Tensor x, int axis=-1, bool descending=False, bool stable=False) -> (Tensor values, Tensor indices)")
        .Doc("The elements of an axis in order, and where they were. Always stable; NaN counts as the largest.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          KernelAxis(i, i.Int("axis"));
          InferPair(i, i.x(0).shape());
        })
        .Runs([](Run& r) {
          kernels::Sort(r.ctx(), r.dtype(), r.out(0), r.out(1), r.in(0), KernelAxis(r, r.Int("axis")),
                        r.Bool("descending"));
        })
        .Gradient("indices", [](Grad& g) { PickedGradient(g, g.Int("axis"), g.y(1), g.dy()); });

[[maybe_unused]] const auto& argsort =
    DefineOp("argsort(Tensor x, int axis=-1, bool descending=False, bool stable=False) -> Tensor")
        .Doc("The places that would put an axis in order.")
        .Batches(Batching::kRows, "axis")
        .NotDifferentiable()
        .Infers([](Infer& i) {
          KernelAxis(i, i.Int("axis"));
          InferPair(i, i.x(0).shape());
          i.outputs = {OutputSpec{i.x(0).shape(), {}, DType::kInt64}};
        })
        .Runs([](Run& r) {
          kernels::Sort(r.ctx(), r.dtype(), View{}, r.out(0), r.in(0), KernelAxis(r, r.Int("axis")),
                        r.Bool("descending"));
        });

[[maybe_unused]] const auto& msort =
    DefineOp("msort(Tensor x) -> Tensor").Doc("Sort along the first axis.").As([](const CallReader& c) -> Tensors {
      return {Op<"sort">(c.x(0), 0)};
    });

/// The shape with `size` along an axis; a 0-d tensor counts as one element.
Dims Resized(const Dims& shape, int64_t axis, int64_t size) {
  Dims resized = shape;
  if (!resized.empty()) resized[axis] = size;
  return resized;
}

[[maybe_unused]] const auto& topk =
    DefineOp(
        "topk(Tensor x, int k, int axis=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)")
        .Doc("The k largest or smallest elements of an axis, best first, and where they were.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          const int64_t axis = KernelAxis(i, i.Int("axis")), size = i.x(0).ndim() ? i.x(0).size(axis) : 1;
          if (i.Int("k") < 0 || i.Int("k") > size) {
            throw ValueError("topk").Got("k ", i.Int("k")).Expected("0 to ", size, ", the size of axis ", axis);
          }
          InferPair(i, Resized(i.x(0).shape(), axis, i.Int("k")));
        })
        .Runs([](Run& r) {
          kernels::TopK(r.ctx(), r.dtype(), r.out(0), r.out(1), r.in(0), KernelAxis(r, r.Int("axis")),
                        r.Bool("largest"));
        })
        .Gradient("indices", [](Grad& g) { PickedGradient(g, g.Int("axis"), g.y(1), g.dy()); });

// --- one element per line: results drop the axis unless keepdims

/// The size of the axis, which must hold something to pick.
int64_t FilledAxis(const CallReader& c, int64_t axis) {
  const int64_t size = c.x(0).ndim() ? c.x(0).size(axis) : 1;
  if (size == 0) throw ValueError(c.name()).Got("an axis of size 0").Expected("at least one element along axis ", axis);
  return size;
}

void InferPicked(Infer& i, int64_t axis, bool keepdims) {
  FilledAxis(i, axis);
  const Dims axes = i.x(0).ndim() ? Dims{axis} : Dims{};
  InferPair(i, ReducedShape(i.x(0).shape(), axes, keepdims));
}

/// A result as the kernel wants it: with the axis, of size 1.
struct Kept {
  Dims shape, strides;
  View view;
  Kept(View y, const Tensor& x, int64_t axis, bool keepdims)
      : shape(y.shape, y.ndim), strides(y.strides, y.ndim), view(y) {
    if (!keepdims && x.ndim() > 0) {
      shape.insert(axis, 1);
      strides.insert(axis, 1);
    }
    view.shape = shape.data(), view.strides = strides.data(), view.ndim = shape.size();
  }
};

/// Run `kernel(values, indices, axis)`.
template <typename F>
void RunPicked(Run& r, F kernel) {
  const int64_t axis = KernelAxis(r, r.Int("axis"));
  const Kept values(r.out(0), r.x(0), axis, r.Bool("keepdims")), indices(r.out(1), r.x(0), axis, r.Bool("keepdims"));
  kernel(values.view, indices.view, static_cast<int>(axis));
}

void PickedOneGradient(Grad& g) {
  const int ndim = g.x_shape(0).size();
  const int64_t axis = NormalizeAxis(g.name(), g.Int("axis"), ndim);
  const bool widen = !g.Bool("keepdims") && ndim > 0;
  PickedGradient(g, axis, widen ? Op<"unsqueeze">(g.y(1), axis) : g.y(1),
                 widen ? Op<"unsqueeze">(g.dy(), axis) : g.dy());
}

[[maybe_unused]] const auto& kthvalue =
    DefineOp("kthvalue(Tensor x, int k, int axis=-1, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The k-th smallest element of an axis, counted from 1, and where it is.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          const int64_t axis = KernelAxis(i, i.Int("axis")), size = FilledAxis(i, axis);
          if (i.Int("k") < 1 || i.Int("k") > size)
            throw ValueError("kthvalue").Got("k ", i.Int("k")).Expected("1 to ", size);
          InferPicked(i, axis, i.Bool("keepdims"));
        })
        .Runs([](Run& r) {
          RunPicked(r, [&](View values, View indices, int axis) {
            kernels::KthValue(r.ctx(), r.dtype(), values, indices, r.in(0), axis, r.Int("k"));
          });
        })
        .Gradient("indices", PickedOneGradient);

void InferMedian(Infer& i) { InferPicked(i, KernelAxis(i, i.Int("axis")), i.Bool("keepdims")); }
void RunMedian(Run& r, bool ignore_nan) {
  RunPicked(r, [&](View values, View indices, int axis) {
    kernels::Median(r.ctx(), r.dtype(), values, indices, r.in(0), axis, ignore_nan);
  });
}

[[maybe_unused]] const auto& median_axis =
    DefineOp("median_axis(Tensor x, int axis, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The lower median along an axis, and where it is.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferMedian)
        .Runs([](Run& r) { RunMedian(r, /*ignore_nan=*/false); })
        .Gradient("indices", PickedOneGradient);
[[maybe_unused]] const auto& nanmedian_axis =
    DefineOp("nanmedian_axis(Tensor x, int axis, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The lower median along an axis that passes over NaN, and where it is.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferMedian)
        .Runs([](Run& r) { RunMedian(r, /*ignore_nan=*/true); })
        .Gradient("indices", PickedOneGradient);

/// Without an axis, the median of all elements; of none, NaN.
template <OpName along_axis>
Tensors MedianOf(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (c.Given("axis")) return OpN<along_axis>(x, c.Int("axis"), c.Bool("keepdims"));
  if (x.numel() == 0 && x.is_floating()) {
    const Tensor nan = Op<"full">(Dims{}, Value(std::numeric_limits<double>::quiet_NaN()), x.dtype(), x.device());
    return {nan, Op<"full">(Dims{}, Value(int64_t{-1}), DType::kInt64, x.device())};
  }
  return OpN<along_axis>(Op<"reshape">(x, Dims{x.numel()}), 0, false);
}
[[maybe_unused]] const auto& median =
    DefineOp("median(Tensor x, int? axis=None, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The lower median of an axis, or of all elements, and where it is; NaN if there is one.")
        .As(MedianOf<"median_axis">);
[[maybe_unused]] const auto& nanmedian =
    DefineOp("nanmedian(Tensor x, int? axis=None, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The lower median of what is not NaN along an axis, or of all elements, and where it is.")
        .As(MedianOf<"nanmedian_axis">);

[[maybe_unused]] const auto& mode =
    DefineOp("mode(Tensor x, int axis=-1, bool keepdims=False) -> (Tensor values, Tensor indices)")
        .Doc("The most frequent value of an axis, the smallest of equals, and its last place.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferMedian)
        .Runs([](Run& r) {
          RunPicked(r, [&](View values, View indices, int axis) {
            kernels::Mode(r.ctx(), r.dtype(), values, indices, r.in(0), axis);
          });
        })
        .Gradient("indices", PickedOneGradient);

}  // namespace
}  // namespace dragon
