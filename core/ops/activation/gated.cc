// Activations that read more than one number at a time: a learned or random slope, a gate, a threshold.
#include "core/framework/number.h"
#include "core/kernels/array.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

/// The weight, of one number or one per channel (axis 1), in a shape that broadcasts against x.
Tensor WeightFor(const CallReader& c) {
  const Tensor &x = c.x("x"), &weight = c.x("weight");
  if (weight.numel() == 1) return weight.ndim() == 0 ? weight : Op<"reshape">(weight, Dims{});
  const int64_t channels = x.ndim() >= 2 ? x.size(1) : x.ndim() == 1 ? x.size(0) : 1;
  if (weight.ndim() != 1 || weight.numel() != channels || x.ndim() == 0) {
    throw ValueError(c.name())
        .Got("a weight of shape ", weight.shape(), " for x of shape ", x.shape())
        .Expected("one number, or one per channel of axis 1");
  }
  if (x.ndim() < 2) return weight;
  Dims shape = Dims::Filled(x.ndim(), 1);
  shape[1] = channels;
  return Op<"reshape">(weight, shape);
}

void DefinePrelu() {
  DefineOp("prelu(Tensor x, Tensor weight) -> Tensor")
      .Doc("x, multiplied below 0 by a weight: one for all, or one per channel of axis 1.")
      .Autocast(Precision::kLower)
      .As([](const CallReader& c) -> Tensors {
        if (c.x("weight").dtype() != c.x("x").dtype()) {
          throw TypeError(c.name())
              .Got("x of ", c.x("x").dtype(), " and weight of ", c.x("weight").dtype())
              .Expected("one dtype");
        }
        return {Op<"broadcast_prelu">(c.x("x"), WeightFor(c))};
      });
  DefineOp("broadcast_prelu(Tensor x, Tensor weight) -> Tensor")
      .Doc("x, multiplied below 0 by a weight that broadcasts to it.")
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<2>)
      .Gradient("x, weight", [](Grad& g) {
        if (g.needs("x")) g.dx("x", Op<"broadcast_prelu_backward">(g.dy(), g.x("x"), g.x("weight")));
        if (g.needs("weight")) g.dx("weight", Op<"where">(Op<"gt">(g.x("x"), Number(0)), Number(0), g.dy() * g.x("x")));
      });
  DefineOp("broadcast_prelu_backward(Tensor dy, Tensor x, Tensor weight) -> Tensor")
      .Doc("Gradient of prelu with respect to x.")
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<3>)
      .Gradient("dy, x, weight", [](Grad& g) {
        if (g.needs("dy")) g.dx("dy", Op<"broadcast_prelu_backward">(g.dy(), g.x("x"), g.x("weight")));
        if (g.needs("x")) g.dx("x", Zeros(g, "x"));
        if (g.needs("weight"))
          g.dx("weight", Op<"where">(Op<"gt">(g.x("x"), Number(0)), Number(0), g.dy() * g.x("dy")));
      });
}

/// Slopes drawn between the bounds while training, their mean afterwards.
Tensors Rrelu(const CallReader& c) {
  const Tensor& x = c.x(0);
  const double lower = c.Real("lower"), upper = c.Real("upper");
  if (!(lower <= upper)) {
    throw ValueError(c.name()).Got("lower ", lower, " and upper ", upper).Expected("lower <= upper");
  }
  if (!c.Bool("training")) return {Op<"leaky_relu">(x, (lower + upper) / 2)};
  const Tensor below = Op<"le">(x.Detach(), Number(0));
  if (x.device().type == DeviceType::kCUDA) {  // a draw for each element, so that nobody waits to count them
    const Tensor drawn =
        Op<"uniform">(Op<"empty">(x.shape(), x.dtype(), x.device()), lower, upper, c.attr("generator"));
    return {x * Op<"where">(below, drawn, Op<"ones">(x.shape(), x.dtype(), x.device()))};
  }
  // One draw, in double precision, for each element that is not positive: PyTorch's stream.
  const int64_t draws = x.is_meta() ? x.numel() : Op<"count_nonzero">(below).Item().integer();
  const Tensor slopes =
      Op<"uniform">(Op<"empty">(Dims{draws}, DType::kFloat64, x.device()), lower, upper, c.attr("generator"));
  const Tensor ones = Op<"ones">(x.shape(), x.dtype(), x.device());
  return {x * Op<"masked_scatter">(ones, below, Op<"cast">(slopes, x.dtype()))};
}

/// The first half of an axis, each number let through as far as its partner in the second half opens the gate.
Tensors Glu(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (x.ndim() == 0) throw ValueError(c.name()).Got("a 0-d tensor").Expected("an axis to halve");
  const int64_t axis = NormalizeAxis(c.name(), c.Int("axis"), x.ndim()), size = x.size(axis);
  if (size % 2) throw ValueError(c.name()).Got("size ", size, " along axis ", axis).Expected("an even size");
  const Tensor first = Op<"narrow">(x, axis, 0, size / 2), gate = Op<"narrow">(x, axis, size / 2, size / 2);
  return {first * Op<"sigmoid">(gate)};
}

/// The kernel takes doubles; integers beyond those they have are compared as integers.
void RunThreshold(Run& r) {
  const auto in_double = [](const Value& value) {
    return value.kind() != Value::Kind::kInt || std::abs(value.real()) < 0x1p53;
  };
  if (in_double(r.attr("threshold")) && in_double(r.attr("value")))
    return RunOwnKernel<1>(r, r.dtype(), r.Real("threshold"), r.Real("value"));
  const Tensor below = Op<"le">(r.x(0), Number(r.attr("threshold")));
  const Tensor y = Op<"where">(below, NumberIn(r.name(), r.dtype(), r.attr("value")), r.x(0));
  kernels::Copy(r.ctx(), r.dtype(), r.out(), y.view());
}

[[maybe_unused]] const bool gated_defined = [] {
  DefinePrelu();
  DefineOp(
      "rrelu(Tensor x, float lower=0.125, float upper=0.3333333333333333, bool training=False, *, Generator? "
      "generator=None) -> Tensor")
      .Doc("x, multiplied below 0 by a slope drawn between the bounds (their mean when not training).")
      .As(Rrelu);
  DefineOp("glu(Tensor x, int axis=-1) -> Tensor")
      .Doc("The first half of an axis times the sigmoid of the second.")
      .As(Glu);
  DefineOp("threshold(Tensor x, Scalar threshold, Scalar value) -> Tensor")
      .Doc("x where it exceeds the threshold, else the value.")
      .Pointwise()
      .Infers([](Infer& i) {
        for (const Value& number : i.call().attrs) RequireNumber(i.name(), i.x(0).dtype(), number);
        InferPointwise(i);
      })
      .Runs(RunThreshold)
      .Gradient(
          "x", [](Grad& g) { g.dx(0, Op<"where">(Op<"le">(g.x(0), Number(g.attr("threshold"))), Number(0), g.dy())); });
  return true;
}();

}  // namespace
}  // namespace dragon
