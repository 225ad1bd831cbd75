// Softmax, its logarithm, and their gradients, which are operators with gradients of their own.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/normalization.h"

namespace dragon {
namespace {

int AxisOf(const CallReader& c, const Dims& shape) {
  return static_cast<int>(NormalizeAxis(c.name(), c.Int("axis"), shape.size()));
}

// --- forward.

void InferForward(Infer& i) {
  const DType dtype = i.DTypeOr("dtype", i.x(0).dtype());
  if (!IsFloating(dtype)) throw TypeError(i.name()).Got(dtype).Expected("a floating dtype");
  AxisOf(i, i.x(0).shape());
  i.y(0, i.x(0).shape(), dtype);
}

template <typename K>
void RunForward(Run& r, const K& kernel) {
  Tensor x = r.Contiguous(0);
  if (x.dtype() != r.y().dtype()) x = Op<"cast">(x, r.y().dtype());
  kernel(r.ctx(), x.dtype(), r.out(), x.view(), AxisOf(r, x.shape()));
}

[[maybe_unused]] const auto& softmax =
    DefineOp("softmax(Tensor x, int axis=-1, *, dtype? dtype=None) -> Tensor")
        .Doc("exp(x) / sum(exp(x)) along an axis.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferForward)
        .Runs([](Run& r) { RunForward(r, kernels::Softmax); })
        .Gradient("out", [](Grad& g) { g.dx(0, Op<"softmax_backward">(g.dy(), g.y(), g.Int("axis"))); });

[[maybe_unused]] const auto& log_softmax =
    DefineOp("log_softmax(Tensor x, int axis=-1, *, dtype? dtype=None) -> Tensor")
        .Doc("The logarithm of softmax along an axis.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferForward)
        .Runs([](Run& r) { RunForward(r, kernels::LogSoftmax); })
        .Gradient("out", [](Grad& g) { g.dx(0, Op<"log_softmax_backward">(g.dy(), g.y(), g.Int("axis"))); });

[[maybe_unused]] const auto& softmin =
    DefineOp("softmin(Tensor x, int axis=-1, *, dtype? dtype=None) -> Tensor")
        .Doc("The softmax of -x.")
        .As([](const CallReader& c) -> Tensors { return {Op<"softmax">(-c.x(0), c.Int("axis"), c.attr("dtype"))}; });

// --- backward: of dy and y.

void InferSlope(Infer& i) {
  if (i.x("dy").shape() != i.x("y").shape()) {
    throw ValueError(i.name()).Got(i.x("dy").shape(), " and ", i.x("y").shape()).Expected("equal shapes");
  }
  AxisOf(i, i.x("y").shape());
  i.y(0, i.x("y").shape(), i.x("y").dtype());
}

template <typename K>
void RunBackward(Run& r, const K& kernel) {
  const Tensor& y = r.x("y");
  kernel(r.ctx(), y.dtype(), r.out(), r.rows("dy"), r.rows("y"), AxisOf(r, y.shape()));
}

Tensor SumAlong(const Tensor& x, int64_t axis) { return x.ndim() ? Op<"sum">(x, Dims{axis}, true) : x; }

/// Of dx = y (dy - sum(dy y)).
void SoftmaxSecond(Grad& g) {
  const Tensor &slope = g.dy(), &dy = g.x("dy"), &y = g.x("y");
  const int64_t axis = g.Int("axis");
  if (g.needs("dy")) g.dx("dy", Op<"softmax_backward">(slope, y, axis));
  if (g.needs("y")) g.dx("y", slope * (dy - SumAlong(dy * y, axis)) - dy * SumAlong(slope * y, axis));
}

/// Of dx = dy - exp(y) sum(dy).
void LogSoftmaxSecond(Grad& g) {
  const Tensor &slope = g.dy(), &dy = g.x("dy");
  const Tensor y = Op<"exp">(g.x("y"));
  const int64_t axis = g.Int("axis");
  if (g.needs("dy")) g.dx("dy", slope - SumAlong(slope * y, axis));
  if (g.needs("y")) g.dx("y", -(slope * y) * SumAlong(dy, axis));
}

[[maybe_unused]] const auto& softmax_backward = DefineOp("softmax_backward(Tensor dy, Tensor y, int axis) -> Tensor")
                                                    .Doc("The gradient of softmax, from its result.")
                                                    .Batches(Batching::kRows, "axis")
                                                    .Promotes(Promotion::kCommon)
                                                    .Infers(InferSlope)
                                                    .Runs([](Run& r) { RunBackward(r, kernels::SoftmaxBackward); })
                                                    .Gradient("dy, y", SoftmaxSecond);

[[maybe_unused]] const auto& log_softmax_backward =
    DefineOp("log_softmax_backward(Tensor dy, Tensor y, int axis) -> Tensor")
        .Doc("The gradient of log_softmax, from its result.")
        .Batches(Batching::kRows, "axis")
        .Promotes(Promotion::kCommon)
        .Infers(InferSlope)
        .Runs([](Run& r) { RunBackward(r, kernels::LogSoftmaxBackward); })
        .Gradient("dy, y", LogSoftmaxSecond);

}  // namespace
}  // namespace dragon
