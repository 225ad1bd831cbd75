// The activations: rows of one table, each with a gradient operator of its own that can be differentiated again.
#include "core/kernels/activation.h"

#include <functional>

#include "core/ops/pointwise.h"

namespace dragon {
namespace {

/// The two numbers that the kernels of a row read, taken from a call's attributes.
struct Parameters {
  double a = 0, b = 0;
};
using ReadParameters = Parameters (*)(const CallReader& c);
/// The second derivative at x, of which attributes are those of the call; null where it is 0.
using Curvature = Tensor (*)(const CallReader& c, const Tensor& x);

struct Row {
  const char* name;
  const char* arguments;  // after x
  const char* doc;
  ReadParameters parameters = [](const CallReader&) { return Parameters{}; };
  Curvature curvature = nullptr;
  TailFn tail = nullptr;
  bool from_result = false;  // the slope at x equals the slope at f(x): the result is saved, which others keep anyway
};

Tensor Sigmoid(const Tensor& x) { return Op<"sigmoid">(x); }
Tensor IsBelow(const Tensor& x, double bound) { return Op<"lt">(x, Number(bound)); }

Parameters CeluAlpha(const CallReader& c) {
  const double alpha = c.Real("alpha");
  if (alpha == 0) throw ValueError(c.name()).Got("alpha 0").Expected("an alpha that can divide");
  return {alpha};
}
Parameters ShrinkLambda(const CallReader& c) {
  const double lambd = c.Real("lambd");
  if (!(lambd >= 0)) throw ValueError(c.name()).Got("lambd ", lambd).Expected("at least 0");
  return {lambd};
}
Parameters Bounds(const CallReader& c) {
  const double least = c.Real("min_val"), most = c.Real("max_val");
  if (least > most) {
    throw ValueError(c.name()).Got("min_val ", least, " and max_val ", most).Expected("min_val <= max_val");
  }
  return {least, most};
}

Tensor ExponentialCurvature(const Tensor& x, double factor, double rate) {
  return Masked(IsBelow(x, 0), Op<"exp">(x * rate) * (factor * rate * rate));
}
Tensor GeluCurvature(const CallReader& c, const Tensor& x) {
  constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
  if (c.String("approximate") != "tanh") return Op<"exp">(Square(x) * -0.5) * (2.0 - Square(x)) * kInverseSqrtTwoPi;
  constexpr double kRate = 0.79788456080286535588, kCubic = 0.044715;
  const Tensor inner = (x + Square(x) * x * kCubic) * kRate, first = (Square(x) * (3 * kCubic) + 1.0) * kRate;
  const Tensor t = Op<"tanh">(inner);
  return (1.0 - Square(t)) * (first + Square(x) * (3 * kRate * kCubic) - x * t * Square(first));
}
Tensor MishCurvature(const CallReader&, const Tensor& x) {
  const Tensor t = Op<"tanh">(Op<"softplus">(x)), s = Sigmoid(x);
  return s * (1.0 - Square(t)) * (x * (1.0 - s - t * s * 2.0) + 2.0);
}
Tensor SoftplusCurvature(const CallReader& c, const Tensor& x) {
  const double beta = c.Real("beta");
  const Tensor s = Sigmoid(x * beta);
  return Masked(Op<"le">(x * beta, Number(c.Real("threshold"))), s * (1.0 - s) * beta);
}
Tensor SoftsignCurvature(const CallReader&, const Tensor& x) {
  const Tensor length = Op<"abs">(x) + 1.0;
  return Op<"sgn">(x) * -2.0 / (Square(length) * length);
}

/// The same tail whatever the attributes.
TailFn Always(Tail tail) {
  return [tail](const TailCall&) { return tail; };
}
std::optional<Tail> EluTail(const TailCall& c) {
  if (c.Real("scale") != 1 || c.Real("input_scale") != 1) return std::nullopt;
  return Tail{"elu", c.Real("alpha")};
}

const Row kRows[] = {
    {.name = "relu",
     .arguments = "",
     .doc = "max(x, 0).",
     .tail = Always({"relu", 0, 0, /*drops_nan=*/true}),
     .from_result = true},
    {.name = "relu6",
     .arguments = "",
     .doc = "min(max(x, 0), 6).",
     .tail = Always({"hardtanh", 0, 6, /*drops_nan=*/true})},
    {.name = "leaky_relu",
     .arguments = "float negative_slope=0.01",
     .doc = "x, multiplied by the slope below 0.",
     .parameters = [](const CallReader& c) { return Parameters{c.Real("negative_slope")}; },
     .tail = [](const TailCall& c) -> std::optional<Tail> { return Tail{"leaky_relu", c.Real("negative_slope")}; }},
    {.name = "elu",
     .arguments = "float alpha=1.0, float scale=1.0, float input_scale=1.0",
     .doc = "scale * x above 0, scale * alpha * (exp(input_scale * x) - 1) below.",
     .parameters = [](const CallReader& c) { return Parameters{c.Real("alpha"), c.Real("input_scale")}; },
     .curvature = [](const CallReader& c,
                     const Tensor& x) { return ExponentialCurvature(x, c.Real("alpha"), c.Real("input_scale")); },
     .tail = EluTail},
    {.name = "celu",
     .arguments = "float alpha=1.0",
     .doc = "x above 0, alpha * (exp(x / alpha) - 1) below.",
     .parameters = CeluAlpha,
     .curvature = [](const CallReader& c,
                     const Tensor& x) { return ExponentialCurvature(x, c.Real("alpha"), 1 / c.Real("alpha")); }},
    {.name = "selu",
     .arguments = "",
     .doc = "elu, scaled so that mean 0 and variance 1 stay what they are.",
     .curvature = [](const CallReader&, const Tensor& x) { return ExponentialCurvature(x, 1.7580993408473766, 1); }},
    {.name = "silu",
     .arguments = "",
     .doc = "x * sigmoid(x).",
     .curvature =
         [](const CallReader&, const Tensor& x) {
           const Tensor s = Sigmoid(x);
           return s * (1.0 - s) * (x * (1.0 - s * 2.0) + 2.0);
         },
     .tail = Always({"silu"})},
    {.name = "mish", .arguments = "", .doc = "x * tanh(softplus(x)).", .curvature = MishCurvature},
    {.name = "softplus",
     .arguments = "float beta=1.0, float threshold=20.0",
     .doc = "log(1 + exp(beta * x)) / beta; x itself where beta * x exceeds the threshold.",
     .parameters = [](const CallReader& c) { return Parameters{c.Real("beta"), c.Real("threshold")}; },
     .curvature = SoftplusCurvature},
    {.name = "logsigmoid",
     .arguments = "",
     .doc = "log(sigmoid(x)), without overflow.",
     .curvature =
         [](const CallReader&, const Tensor& x) {
           const Tensor s = Sigmoid(x);
           return s * (s - 1.0);
         }},
    {.name = "softsign", .arguments = "", .doc = "x / (1 + |x|).", .curvature = SoftsignCurvature},
    {.name = "hardtanh",
     .arguments = "float min_val=-1.0, float max_val=1.0",
     .doc = "x, but at least min_val and at most max_val.",
     .parameters = Bounds,
     .tail = [](const TailCall& c) -> std::optional<Tail> {
       return Tail{"hardtanh", c.Real("min_val"), c.Real("max_val"), /*drops_nan=*/true};
     }},
    {.name = "hardsigmoid",
     .arguments = "",
     .doc = "relu6(x + 3) / 6.",
     .tail = Always({"hardsigmoid", 0, 0, /*drops_nan=*/true})},
    {.name = "hardswish",
     .arguments = "",
     .doc = "x * hardsigmoid(x).",
     .curvature = [](const CallReader&,
                     const Tensor& x) { return Masked(IsBelow(Op<"abs">(x), 3), Op<"ones_like">(x) / 3.0); },
     .tail = Always({"hardswish"})},
    {.name = "hardshrink",
     .arguments = "float lambd=0.5",
     .doc = "x, but 0 where |x| <= lambd.",
     .parameters = [](const CallReader& c) { return Parameters{c.Real("lambd")}; }},
    {.name = "softshrink",
     .arguments = "float lambd=0.5",
     .doc = "x moved towards 0 by lambd, and 0 where |x| <= lambd.",
     .parameters = ShrinkLambda},
    {.name = "tanhshrink",
     .arguments = "",
     .doc = "x - tanh(x).",
     .curvature =
         [](const CallReader&, const Tensor& x) {
           const Tensor t = Op<"tanh">(x);
           return t * (1.0 - Square(t)) * 2.0;
         }},
    {.name = "gelu",
     .arguments = "str approximate=\"none\"",
     .doc = "x times the normal distribution's area up to x, or its approximation by tanh.",
     .curvature = GeluCurvature,
     .tail = [](const TailCall& c) -> std::optional<Tail> {
       return Tail{c.String("approximate") == "tanh" ? "gelu_tanh" : "gelu"};
     }},
};

/// The operator `op` on tensors, with the attributes of `c`.
Tensor CallLike(const Operator& op, const CallReader& c, std::initializer_list<Tensor> tensors) {
  CallBuilder builder(op);
  for (const Tensor& tensor : tensors) builder.Add(tensor);
  for (const Value& attr : c.call().attrs) builder.Add(attr);
  return builder.Apply()[0];
}

/// gelu has a kernel for each of its two formulas; every other row has the one of its name.
bool ByTanh(const CallReader& c) {
  const std::string& approximate = c.String("approximate");
  if (approximate == "tanh") return true;
  if (approximate == "none") return false;
  throw ValueError(c.name()).Got("approximate '", approximate, "'").Expected("'none' or 'tanh'");
}
void RunGelu(Run& r) {
  static const kernels::Activation exact{"gelu"}, by_tanh{"gelu_tanh"};
  (ByTanh(r) ? by_tanh : exact)(r.ctx(), r.dtype(), r.out(), r.in(0), 0.0, 0.0);
}
void RunGeluBackward(Run& r) {
  static const kernels::ActivationBackward exact{"gelu_backward"}, by_tanh{"gelu_tanh_backward"};
  (ByTanh(r) ? by_tanh : exact)(r.ctx(), r.dtype(), r.out(), r.in("dy"), r.in("x"), 0.0, 0.0);
}

/// A constant factor after an activation, for elu: the kernels know two parameters only.
double ScaleOf(const CallReader& c, bool is_elu) { return is_elu ? c.Real("scale") : 1.0; }

void DefineRow(const Row& row) {
  const std::string name = row.name, arguments = row.arguments, separator = arguments.empty() ? "" : ", ";
  const bool is_gelu = name == "gelu", is_elu = name == "elu";
  Operator& forward = DefineOp(name + "(Tensor x" + separator + arguments + ") -> Tensor")
                          .Doc(row.doc)
                          .Pointwise()
                          .Infers(InferPointwise)
                          .Tails(row.tail);
  Operator& backward =
      DefineOp(name + "_backward(Tensor dy, Tensor x" + separator + arguments + ") -> Tensor")
          .Doc("Gradient of the activation, from its input (or from its result, where that says as much).")
          .Pointwise()
          .Infers(InferPointwise);
  if (is_gelu) {
    forward.Infers([](Infer& i) { ByTanh(i), InferPointwise(i); }).Runs(RunGelu);
    backward.Runs(RunGeluBackward);
  } else {
    const ReadParameters parameters = row.parameters;
    const auto infer = [parameters](Infer& i) { parameters(i), InferPointwise(i); };
    forward.Infers(infer).Runs([parameters, is_elu](Run& r) {
      const Parameters p = parameters(r);
      RunOwnKernel<1>(r, r.dtype(), p.a, p.b);
      if (ScaleOf(r, is_elu) != 1) OpInto<"mul">(r.y(), r.y(), Number(ScaleOf(r, is_elu)));
    });
    backward.Infers(infer).Runs([parameters, is_elu](Run& r) {
      const Parameters p = parameters(r);
      RunOwnKernel<2>(r, r.dtype(), p.a, p.b);
      if (ScaleOf(r, is_elu) != 1) OpInto<"mul">(r.y(), r.y(), Number(ScaleOf(r, is_elu)));
    });
  }
  const bool from_result = row.from_result;
  forward.Gradient(from_result ? "out" : "x", [&backward, from_result](Grad& g) {
    g.dx("x", CallLike(backward, g, {g.dy(), from_result ? g.y() : g.x("x")}));
  });
  const Curvature curvature = row.curvature;
  backward.Gradient("dy, x", [&backward, curvature, is_elu](Grad& g) {
    if (g.needs("dy")) g.dx("dy", CallLike(backward, g, {g.dy(), g.x("x")}));
    if (!g.needs("x")) return;
    if (!curvature) return g.dx("x", Zeros(g, "x"));
    g.dx("x", g.dy() * g.x("dy") * curvature(g, g.x("x")) * ScaleOf(g, is_elu));
  });
}

[[maybe_unused]] const bool activation_defined = [] {
  for (const Row& row : kRows) DefineRow(row);
  return true;
}();

}  // namespace
}  // namespace dragon
