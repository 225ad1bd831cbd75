// Circular and hyperbolic functions, their inverses, and the conversion of angles.
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

constexpr double kPi = std::numbers::pi;

/// (cos(pi x) - sinc(x)) / x. Near 0, where all digits of it cancel, its series; 16 bits are too few even elsewhere.
Tensor SincSlope(Grad& g) {
  const DType dtype = g.x(0).dtype();
  const bool half = IsHalf(dtype);
  const Tensor x = half ? Op<"cast">(g.x(0), DType::kFloat32) : g.x(0);
  const Tensor near = Op<"lt">(Op<"abs">(x), Number(0.125));
  const Tensor small = Masked(near, x), squared = Square(small * kPi);
  Tensor series = 1.0 - squared / 130.0;
  for (double divisor : {88.0, 54.0, 28.0, 10.0}) series = 1.0 - squared * series / divisor;
  const Tensor large = Op<"where">(near, Number(1), x);
  const Tensor slope =
      Op<"where">(near, small * series * (-kPi * kPi / 3), (Op<"cos">(large * kPi) - Op<"sinc">(large)) / large);
  return half ? Op<"cast">(slope, dtype) : slope;
}

[[maybe_unused]] const bool trigonometric_defined = [] {
  Unary("sin", "Sine.").Gradient("x", Slope([](Grad& g) { return Op<"cos">(g.x(0)); }));
  Unary("cos", "Cosine.").Gradient("x", Slope([](Grad& g) { return -Op<"sin">(g.x(0)); }));
  Unary("tan", "Tangent.").Gradient("out", Slope([](Grad& g) { return Square(g.y()) + 1.0; }));
  Unary("asin", "Inverse sine.").Gradient("x", Slope([](Grad& g) { return Op<"rsqrt">(1.0 - Square(g.x(0))); }));
  Unary("acos", "Inverse cosine.").Gradient("x", Slope([](Grad& g) { return -Op<"rsqrt">(1.0 - Square(g.x(0))); }));
  Unary("atan", "Inverse tangent.").Gradient("x", Slope([](Grad& g) { return 1.0 / (Square(g.x(0)) + 1.0); }));
  Unary("sinh", "Hyperbolic sine.").Gradient("x", Slope([](Grad& g) { return Op<"cosh">(g.x(0)); }));
  Unary("cosh", "Hyperbolic cosine.").Gradient("x", Slope([](Grad& g) { return Op<"sinh">(g.x(0)); }));
  Unary("tanh", "Hyperbolic tangent.").Tails({"tanh"}).Gradient("out", [](Grad& g) {
    g.dx(0, Op<"tanh_backward">(g.dy(), g.y()));
  });
  DefineOp("tanh_backward(Tensor dy, Tensor y) -> Tensor")
      .Doc("Gradient of tanh, from its result.")
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<2>)
      .Gradient("dy, y", [](Grad& g) {
        // The result is conj(1 - y^2) dy: linear in dy, and holomorphic in conj(y).
        const Tensor& y = g.x("y");
        if (g.needs("dy")) g.dx("dy", g.dy() * (1.0 - Square(y)));
        if (g.needs("y")) g.dx("y", Conjugate(g.dy()) * g.x("dy") * Conjugate(y) * -2.0);
      });
  Unary("asinh", "Inverse hyperbolic sine.").Gradient("x", Slope([](Grad& g) {
                                                        return Op<"rsqrt">(Square(g.x(0)) + 1.0);
                                                      }));
  // Two roots instead of the root of x^2 - 1: of a complex x only they are on the right branch.
  Unary("acosh", "Inverse hyperbolic cosine.").Gradient("x", Slope([](Grad& g) {
                                                          return Op<"rsqrt">(g.x(0) - 1.0) * Op<"rsqrt">(g.x(0) + 1.0);
                                                        }));
  Unary("atanh", "Inverse hyperbolic tangent.").Gradient("x", Slope([](Grad& g) {
                                                           return 1.0 / (1.0 - Square(g.x(0)));
                                                         }));
  Unary("sinc", "sin(pi x) / (pi x), 1 at 0.").Gradient("x", Slope(SincSlope));
  Unary("deg2rad", "Degrees to radians.").Gradient("", [](Grad& g) { g.dx(0, g.dy() * (kPi / 180)); });
  Unary("rad2deg", "Radians to degrees.").Gradient("", [](Grad& g) { g.dx(0, g.dy() * (180 / kPi)); });
  Binary("atan2", "The angle of the point (y, x), from the second argument's axis.", Promotion::kFloat)
      .Gradient("x, y", [](Grad& g) {
        // By the distance twice, not by its square, which under- and overflows; the origin has no slope.
        const Tensor distance = Op<"hypot">(g.x("x"), g.x("y")), off = Op<"ne">(distance, Number(0));
        const Tensor scaled = Masked(off, g.dy() / distance);
        if (g.needs("x")) g.dx("x", scaled * Masked(off, g.x("y") / distance));
        if (g.needs("y")) g.dx("y", -(scaled * Masked(off, g.x("x") / distance)));
      });
  Binary("hypot", "sqrt(x^2 + y^2) without overflow.", Promotion::kFloat).Commutes().Gradient("x, y, out", [](Grad& g) {
    if (g.needs("x")) g.dx("x", g.dy() * (g.x("x") / g.y()));
    if (g.needs("y")) g.dx("y", g.dy() * (g.x("y") / g.y()));
  });
  return true;
}();

}  // namespace
}  // namespace dragon
