// Special functions: gamma's family, Bessel's, the normal distribution's, and logarithms of sums and products.
#include "core/kernels/math/special.h"

#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

struct ErfinvOf : Cost<16> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Erfinv(x)); }
};
struct ErfcxOf : Cost<16> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Erfcx(x)); }
};
struct NdtrOf : Cost<8> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Ndtr(x)); }
};
struct NdtriOf : Cost<16> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Ndtri(x)); }
};
struct LogNdtrOf : Cost<32> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::LogNdtr(x)); }
};
struct LgammaOf : Cost<32> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Lgamma(x)); }
};
struct DigammaOf : Cost<32> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Digamma(x)); }
};
struct I0Of : Cost<16> {
  DRAGON_FN auto operator()(auto x) const {
    return static_cast<decltype(x)>(special::I0e(x) * Exp(Abs(static_cast<double>(x))));
  }
};
struct I0eOf : Cost<16> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::I0e(x)); }
};
struct I1Of : Cost<16> {
  DRAGON_FN auto operator()(auto x) const {
    return static_cast<decltype(x)>(special::I1e(x) * Exp(Abs(static_cast<double>(x))));
  }
};
struct I1eOf : Cost<16> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::I1e(x)); }
};
struct BesselJ0Of : Cost<64> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(j0(static_cast<double>(x))); }
};
struct BesselJ1Of : Cost<64> {
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(j1(static_cast<double>(x))); }
};
struct BesselY0Of : Cost<64> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return static_cast<T>(x < 0 ? special::kNan : y0(static_cast<double>(x)));
  }
};
struct BesselY1Of : Cost<64> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return static_cast<T>(x < 0 ? special::kNan : y1(static_cast<double>(x)));
  }
};
struct SphericalBesselJ0Of : Cost<8> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return IsInf(x) ? T(0) : x == 0 ? T(1) : Sin(x) / x;
  }
};

struct PolygammaOf : Cost<64> {
  int64_t order;
  DRAGON_FN auto operator()(auto x) const { return static_cast<decltype(x)>(special::Polygamma(order, x)); }
};
template <typename T>
void Polygamma(Context& ctx, View y, View x, int64_t order) {
  if (order < 0) throw ValueError("polygamma").Got("order ", order).Expected("an order of at least 0");
  Each<T(T)>(ctx, PolygammaOf{{}, order}, y, x);
}

struct ZetaOf : Cost<64> {
  DRAGON_FN auto operator()(auto s, auto q) const { return static_cast<decltype(s)>(special::Zeta(s, q)); }
};
template <bool kUpper>
struct IgammaOf : Cost<128> {
  DRAGON_FN auto operator()(auto a, auto x) const {
    return static_cast<decltype(a)>(special::IncompleteGamma(a, x, kUpper));
  }
};

/// log(e^a + e^b): the larger is taken out first. Equal infinities leave no difference to take.
struct LogAddExpOf : Cost<8> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    const T larger = a > b || a != a ? a : b;
    return larger + PlainLog1p(Exp(Select(a == b, T(0), -Abs(a - b))));
  }
};
struct LogAddExp2Of : Cost<8> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    constexpr T kInverseLn2 = static_cast<T>(1.44269504088896340736);
    const T larger = a > b || a != a ? a : b;
    return larger + PlainLog1p(Exp2(Select(a == b, T(0), -Abs(a - b)))) * kInverseLn2;
  }
};
/// a log(b), which is 0 where a is, unless b is NaN.
struct XlogyOf : Cost<4> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    return Select(a == 0 && b == b, T(0), a * Log(b));
  }
};
struct Xlog1pyOf : Cost<4> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    return Select(a == 0 && b == b, T(0), a * Log1p(b));
  }
};

const bool entered[] = {
    EnterUnary<ErfinvOf>("erfinv", Floating{}),
    EnterUnary<ErfcxOf>("erfcx", Floating{}),
    EnterUnary<NdtrOf>("ndtr", Floating{}),
    EnterUnary<NdtriOf>("ndtri", Floating{}),
    EnterUnary<LogNdtrOf>("log_ndtr", Floating{}),
    EnterUnary<LgammaOf>("lgamma", Floating{}),
    EnterUnary<DigammaOf>("digamma", Floating{}),
    EnterUnary<I0Of>("i0", Floating{}),
    EnterUnary<I0eOf>("i0e", Floating{}),
    EnterUnary<I1Of>("i1", Floating{}),
    EnterUnary<I1eOf>("i1e", Floating{}),
    EnterUnary<BesselJ0Of>("bessel_j0", Floating{}),
    EnterUnary<BesselJ1Of>("bessel_j1", Floating{}),
    EnterUnary<BesselY0Of>("bessel_y0", Floating{}),
    EnterUnary<BesselY1Of>("bessel_y1", Floating{}),
    EnterUnary<SphericalBesselJ0Of>("spherical_bessel_j0", Floating{}),
    EnterWide(kernels::UnaryWithInt{"polygamma"}, Floating{}, []<typename T>(TypeTag<T>) { return &Polygamma<T>; }),
    EnterBinary<ZetaOf>("zeta", Floating{}),
    EnterBinary<IgammaOf</*kUpper=*/false>>("igamma", Floating{}),
    EnterBinary<IgammaOf</*kUpper=*/true>>("igammac", Floating{}),
    EnterBinary<LogAddExpOf>("logaddexp", Floating{}),
    EnterBinary<LogAddExp2Of>("logaddexp2", Floating{}),
    EnterBinary<XlogyOf>("xlogy", Floating{}),
    EnterBinary<Xlog1pyOf>("xlog1py", Floating{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
