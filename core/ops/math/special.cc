// Special functions: gamma's family, Bessel's, the normal distribution's, and logarithms of sums and products.
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

constexpr double kSqrtTwoPi = 2.50662827463100050242, kSqrtTwoOverPi = 0.79788456080286535588;

Tensor Exp(const Tensor& x) { return Op<"exp">(x); }
Tensor IsNonzero(const Tensor& x) { return Op<"ne">(x, Number(0)); }
/// x with 1 in place of 0: a divisor whose own gradient stays a number.
Tensor Divisor(const Tensor& x) { return Op<"where">(IsNonzero(x), x, Number(1.0)); }
/// a / x for a Bessel function of order 1: 1/2 around 0, where x^2 / 8 is nothing beside 1 but a may be denormal.
Tensor OverX(const Tensor& a, const Tensor& x) {
  const double tiny = x.dtype() == DType::kFloat64 ? 1e-8 : 1e-4;
  const Tensor is_far = Op<"gt">(Op<"abs">(x), Number(tiny));
  return Op<"where">(is_far, a / Op<"where">(is_far, x, Number(1.0)), Number(0.5));
}

/// x^(a-1) e^-x / gamma(a), the density under the incomplete gamma functions.
Tensor GammaDensity(Grad& g) {
  if (g.needs("x")) {
    throw NotImplementedError(g.name())
        .Got("a gradient with respect to x, the order")
        .Expected("one with respect to y");
  }
  const Tensor &a = g.x("x"), &x = g.x("y");
  return g.dy() * Exp((a - 1.0) * Op<"log">(x) - x - Op<"lgamma">(a));
}

void DefineGammas() {
  Unary("lgamma", "Logarithm of |gamma(x)|.").Gradient("x", Slope([](Grad& g) { return Op<"digamma">(g.x(0)); }));
  Unary("digamma", "Slope of lgamma.").Gradient("x", Slope([](Grad& g) { return Op<"polygamma">(1, g.x(0)); }));
  DefineOp("polygamma(int n, Tensor x) -> Tensor")
      .Doc("The n-th derivative of digamma.")
      .Promotes(Promotion::kFloat)
      .Pointwise()
      .Infers([](Infer& i) {
        if (i.Int("n") < 0) throw ValueError(i.name()).Got("n = ", i.Int("n")).Expected("n of at least 0");
        InferPointwise(i);
      })
      .Runs([](Run& r) { RunOwnKernel<1>(r, r.dtype(), r.Int("n")); })
      .Gradient("x", Slope([](Grad& g) { return Op<"polygamma">(g.Int("n") + 1, g.x(0)); }));
  Binary("zeta", "Hurwitz' zeta function: sum of (y + k)^-x.", Promotion::kFloat).Gradient("x, y", [](Grad& g) {
    if (g.needs("x")) {
      throw NotImplementedError(g.name()).Got("a gradient with respect to x").Expected("one with respect to y");
    }
    const Tensor x = Settled(g.x("x"));
    g.dx("y", g.dy() * -x * Op<"zeta">(x + 1.0, g.x("y")));
  });
  Binary("igamma", "Regularised lower incomplete gamma function of order x, up to y.", Promotion::kFloat)
      .Gradient("x, y", [](Grad& g) { g.dx("y", GammaDensity(g)); });
  Binary("igammac", "Regularised upper incomplete gamma function of order x, from y.", Promotion::kFloat)
      .Gradient("x, y", [](Grad& g) { g.dx("y", -GammaDensity(g)); });
}

void DefineBessels() {
  Unary("i0", "Modified Bessel function of order 0.").Gradient("x", Slope([](Grad& g) { return Op<"i1">(g.x(0)); }));
  Unary("i0e", "exp(-|x|) i0(x).").Gradient("x, out", Slope([](Grad& g) {
                                              return Op<"i1e">(g.x(0)) - Op<"sgn">(g.x(0)) * g.y();
                                            }));
  Unary("i1", "Modified Bessel function of order 1.").Gradient("x, out", Slope([](Grad& g) {
                                                                 return Op<"i0">(g.x(0)) - OverX(g.y(), g.x(0));
                                                               }));
  Unary("i1e", "exp(-|x|) i1(x).").Gradient("x, out", Slope([](Grad& g) {
                                              return Op<"i0e">(g.x(0)) - Op<"sgn">(g.x(0)) * g.y() -
                                                     OverX(g.y(), g.x(0));
                                            }));
  Unary("bessel_j0", "Bessel function of order 0.").Gradient("x", Slope([](Grad& g) {
                                                               return -Op<"bessel_j1">(g.x(0));
                                                             }));
  Unary("bessel_j1", "Bessel function of order 1.").Gradient("x, out", Slope([](Grad& g) {
                                                               return Op<"bessel_j0">(g.x(0)) - OverX(g.y(), g.x(0));
                                                             }));
  Unary("bessel_y0", "Bessel function of the second kind, order 0.").Gradient("x", Slope([](Grad& g) {
                                                                                return -Op<"bessel_y1">(g.x(0));
                                                                              }));
  Unary("bessel_y1", "Bessel function of the second kind, order 1.").Gradient("x, out", Slope([](Grad& g) {
                                                                                return Op<"bessel_y0">(g.x(0)) -
                                                                                       g.y() / g.x(0);
                                                                              }));
  Unary("spherical_bessel_j0", "sin(x) / x, 1 at 0.").Gradient("x, out", Slope([](Grad& g) {
                                                                 return Masked(
                                                                     IsNonzero(g.x(0)),
                                                                     (Op<"cos">(g.x(0)) - g.y()) / Divisor(g.x(0)));
                                                               }));
}

void DefineNormals() {
  Unary("ndtr", "Area under the normal density up to x.").Gradient("x", Slope([](Grad& g) {
                                                                     return Exp(Square(g.x(0)) * -0.5) / kSqrtTwoPi;
                                                                   }));
  Unary("ndtri", "The x up to which the area under the normal density is this.")
      .Gradient("out", Slope([](Grad& g) { return Exp(Square(g.y()) * 0.5) * kSqrtTwoPi; }));
  Unary("log_ndtr", "Logarithm of ndtr, exact far below 0.")
      .Gradient("x", Slope([](Grad& g) { return kSqrtTwoOverPi / Op<"erfcx">(g.x(0) * -(std::numbers::sqrt2 / 2)); }));
}

void DefineLogarithms() {
  Binary("logaddexp", "log(exp(x) + exp(y)) without overflow.", Promotion::kFloat)
      .Commutes()
      .Gradient("x, y", [](Grad& g) {
        const Tensor share = Op<"sigmoid">(g.x("x") - g.x("y"));
        if (g.needs("x")) g.dx("x", g.dy() * share);
        if (g.needs("y")) g.dx("y", g.dy() * Op<"sigmoid">(g.x("y") - g.x("x")));
      });
  Binary("logaddexp2", "log2(2^x + 2^y) without overflow.", Promotion::kFloat).Gradient("x, y", [](Grad& g) {
    const Tensor difference = (g.x("x") - g.x("y")) * std::numbers::ln2;
    if (g.needs("x")) g.dx("x", g.dy() * Op<"sigmoid">(difference));
    if (g.needs("y")) g.dx("y", g.dy() * Op<"sigmoid">(-difference));
  });
  Binary("xlogy", "x log(y), 0 where x is 0.", Promotion::kFloat).Gradient("x, y", [](Grad& g) {
    const Tensor &x = g.x("x"), &y = g.x("y");
    if (g.needs("x")) {
      const Tensor flat = Op<"logical_and">(Op<"eq">(x, Number(0)), Op<"le">(y, Number(0)));
      g.dx("x", g.dy() * Op<"where">(flat, Number(0), Op<"log">(y)));
    }
    if (g.needs("y")) g.dx("y", g.dy() * x / y);
  });
  Binary("xlog1py", "x log(1 + y), 0 where x is 0.", Promotion::kFloat).Gradient("x, y", [](Grad& g) {
    const Tensor &x = g.x("x"), &y = g.x("y");
    if (g.needs("x")) {
      const Tensor flat = Op<"logical_and">(Op<"eq">(x, Number(0)), Op<"le">(y, Number(-1)));
      g.dx("x", g.dy() * Op<"where">(flat, Number(0), Op<"log1p">(y)));
    }
    if (g.needs("y")) g.dx("y", g.dy() * x / (y + 1.0));
  });
}

[[maybe_unused]] const bool special_defined =
    (DefineGammas(), DefineBessels(), DefineNormals(), DefineLogarithms(), true);

}  // namespace
}  // namespace dragon
