// Exponentials, logarithms, roots, the logistic function and the error functions.
#include "core/kernels/math.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

constexpr double kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

/// Gradients of y = f(x) from a function (g) -> 1 / f'(x): a steep slope by itself may leave 16 bits.
template <typename F>
Operator::GradFn SlopeOver(F divisor) {
  return [divisor](Grad& g) { g.dx(0, g.dy() / Conjugate(divisor(g))); };
}

/// A function of a logit outside its domain has slope NaN, and 0 where `eps` clamps.
Tensor LogitSlope(Grad& g) {
  const Tensor& x = g.x(0);
  const Tensor slope = 1.0 / (x * (1.0 - x));
  const double eps = g.Given("eps") ? g.Real("eps") : 0.0;
  const Tensor inside = Op<"logical_and">(Op<"ge">(x, Number(eps)), Op<"le">(x, Number(1 - eps)));
  return Op<"where">(inside, slope, Number(g.Given("eps") ? 0.0 : std::numeric_limits<double>::quiet_NaN()));
}

[[maybe_unused]] const bool exponential_defined = [] {
  Unary("exp", "e to the power of x.").Gradient("out", Slope([](Grad& g) { return g.y(); }));
  Unary("exp2", "2 to the power of x.").Gradient("out", Slope([](Grad& g) { return g.y() * kLn2; }));
  Unary("expm1", "exp(x) - 1, exact near 0.").Gradient("out", Slope([](Grad& g) { return g.y() + 1.0; }));
  Unary("log", "Natural logarithm.").Gradient("x", SlopeOver([](Grad& g) { return g.x(0); }));
  Unary("log2", "Logarithm to base 2.").Gradient("x", SlopeOver([](Grad& g) { return g.x(0) * kLn2; }));
  Unary("log10", "Logarithm to base 10.").Gradient("x", SlopeOver([](Grad& g) { return g.x(0) * kLn10; }));
  Unary("log1p", "log(1 + x), exact near 0.").Gradient("x", SlopeOver([](Grad& g) { return g.x(0) + 1.0; }));
  Unary("sqrt", "Square root.").Gradient("out", SlopeOver([](Grad& g) { return 2.0 * g.y(); }));
  Unary("rsqrt", "One over the square root.").Gradient("out", Slope([](Grad& g) {
                                                         return -0.5 * (Square(g.y()) * g.y());
                                                       }));
  Unary("cbrt", "Cube root.").Gradient("out", SlopeOver([](Grad& g) { return 3.0 * Square(g.y()); }));
  Unary("reciprocal", "One over x.").Gradient("out", Slope([](Grad& g) { return -Square(g.y()); }));
  Unary("square", "x times x.", Promotion::kNone).Gradient("x", Slope([](Grad& g) { return g.x(0) * 2.0; }));
  Unary("erf", "Error function.").Gradient("x", Slope([](Grad& g) {
                                             return kTwoOverSqrtPi * Op<"exp">(-Square(g.x(0)));
                                           }));
  Unary("erfc", "1 - erf(x), exact for large x.").Gradient("x", Slope([](Grad& g) {
                                                             return -kTwoOverSqrtPi * Op<"exp">(-Square(g.x(0)));
                                                           }));
  Unary("erfinv", "Inverse of the error function.").Gradient("x", Slope([](Grad& g) {
                                                               return (1 / kTwoOverSqrtPi) *
                                                                      Op<"exp">(Square(Op<"erfinv">(g.x(0))));
                                                             }));
  Unary("erfcx", "exp(x^2) erfc(x), without overflow.").Gradient("x, out", Slope([](Grad& g) {
                                                                   return 2.0 * (g.x(0) * g.y()) - kTwoOverSqrtPi;
                                                                 }));
  Unary("sigmoid", "1 / (1 + exp(-x)).").Tails({"sigmoid"}).Gradient("out", [](Grad& g) {
    g.dx(0, Op<"sigmoid_backward">(g.dy(), g.y()));
  });
  Unary("entr", "-x log(x), 0 at 0 and -inf below.").Gradient("x", Slope([](Grad& g) {
                                                                return -1.0 - Op<"log">(g.x(0));
                                                              }));
  DefineOp("sigmoid_backward(Tensor dy, Tensor y) -> Tensor")
      .Doc("Gradient of sigmoid, from its result.")
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<2>)
      .Gradient("dy, y", [](Grad& g) {
        // The result is conj(slope(y)) dy: linear in dy, and holomorphic in conj(y).
        const Tensor& y = g.x("y");
        if (g.needs("dy")) g.dx("dy", g.dy() * (y * (1.0 - y)));
        if (g.needs("y")) g.dx("y", Conjugate(g.dy()) * g.x("dy") * Conjugate(1.0 - 2.0 * y));
      });
  DefineOp("logit(Tensor x, float? eps=None) -> Tensor")
      .Doc("log(x / (1 - x)), with x first clamped to [eps, 1 - eps] if eps is given.")
      .Promotes(Promotion::kFloat)
      .Pointwise()
      .Infers(InferPointwise)
      .Runs([](Run& r) { RunOwnKernel<1>(r, r.dtype(), r.Given("eps") ? r.Real("eps") : -1.0); })
      .Gradient("x", Slope(LogitSlope));
  return true;
}();

}  // namespace
}  // namespace dragon
