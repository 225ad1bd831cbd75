// Circular and hyperbolic functions, their inverses, and angles.
#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

constexpr double kPi = 3.14159265358979323846;

struct SinOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Sin(x); }
};
struct CosOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Cos(x); }
};
struct TanOf : Cost<8> {
  DRAGON_FN auto operator()(auto x) const { return Tan(x); }
};
struct AsinOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Asin(x); }
};
struct AcosOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Acos(x); }
};
struct AtanOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Atan(x); }
};
struct SinhOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Sinh(x); }
};
struct CoshOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Cosh(x); }
};
struct TanhOf : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Tanh(x); }
};
struct AsinhOf : Cost<8> {
  DRAGON_FN auto operator()(auto x) const { return Asinh(x); }
};
struct AcoshOf : Cost<8> {
  DRAGON_FN auto operator()(auto x) const { return Acosh(x); }
};
struct AtanhOf : Cost<8> {
  DRAGON_FN auto operator()(auto x) const { return Atanh(x); }
};
struct Deg2RadOf {
  DRAGON_FN auto operator()(auto x) const { return x * static_cast<decltype(x)>(kPi / 180); }
};
struct Rad2DegOf {
  DRAGON_FN auto operator()(auto x) const { return x * static_cast<decltype(x)>(180 / kPi); }
};
/// sin(pi x) / (pi x), which is 1 at 0.
struct SincOf : Cost<6> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    const T angle = static_cast<T>(kPi) * x;
    return Select(x == 0, T(1), Sin(angle) / angle);
  }
};
struct Atan2Of : Cost<8> {
  DRAGON_FN auto operator()(auto a, auto b) const { return Atan2(a, b); }
};
struct HypotOf : Cost<4> {
  DRAGON_FN auto operator()(auto a, auto b) const { return Hypot(a, b); }
};

const bool entered[] = {
    EnterUnary<SinOf>("sin", Floating{}),         EnterUnary<CosOf>("cos", Floating{}),
    EnterUnary<TanOf>("tan", Floating{}),         EnterUnary<AsinOf>("asin", Floating{}),
    EnterUnary<AcosOf>("acos", Floating{}),       EnterUnary<AtanOf>("atan", Floating{}),
    EnterUnary<SinhOf>("sinh", Floating{}),       EnterUnary<CoshOf>("cosh", Floating{}),
    EnterUnary<TanhOf>("tanh", Floating{}),       EnterUnary<AsinhOf>("asinh", Floating{}),
    EnterUnary<AcoshOf>("acosh", Floating{}),     EnterUnary<AtanhOf>("atanh", Floating{}),
    EnterUnary<Deg2RadOf>("deg2rad", Floating{}), EnterUnary<Rad2DegOf>("rad2deg", Floating{}),
    EnterUnary<SincOf>("sinc", Floating{}),       EnterBinary<Atan2Of>("atan2", Floating{}),
    EnterBinary<HypotOf>("hypot", Floating{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
