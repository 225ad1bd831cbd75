// Exponentials, logarithms, powers of one half, and the error function: straight from the vector library.
#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

struct ExpOf : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Exp(x); }
};
struct Exp2Of : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Exp2(x); }
};
struct Expm1Of : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Expm1(x); }
};
struct LogOf : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Log(x); }
};
struct Log2Of : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Log2(x); }
};
struct Log10Of : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Log10(x); }
};
struct Log1pOf : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return Log1p(x); }
};
struct SqrtOf : Cost<2> {
  DRAGON_FN auto operator()(auto x) const { return Sqrt(x); }
};
struct RsqrtOf : Cost<2> {
  DRAGON_FN auto operator()(auto x) const { return 1 / Sqrt(x); }
};
struct CbrtOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Cbrt(x); }
};
struct ErfOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Erf(x); }
};
struct ErfcOf : Cost<6> {
  DRAGON_FN auto operator()(auto x) const { return Erfc(x); }
};
struct SigmoidOf : Cost<4> {
  DRAGON_FN auto operator()(auto x) const { return 1 / (1 + Exp(-x)); }
};
struct ReciprocalOf : Cost<2> {
  DRAGON_FN auto operator()(auto x) const { return 1 / x; }
};

/// 0 * log(0) counts as 0 and negative numbers as -inf.
struct EntrOf : Cost<4> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    const T inner = Select(x == T(0), T(0), -x * Log(x));
    return Select(x < T(0), -std::numeric_limits<T>::infinity(), inner);
  }
};

template <typename T>
struct LogitOf : Cost<4> {
  T low, high;
  DRAGON_FN T operator()(T x) const {
    const T p = x < low ? low : x > high ? high : x;
    return Log(p / (T(1) - p));
  }
};

template <typename T>
void Logit(Context& ctx, View y, View x, double eps) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T bound = static_cast<T>(eps);
  Each<T(T)>(ctx, eps < 0 ? LogitOf<T>{{}, -kInfinity, kInfinity} : LogitOf<T>{{}, bound, 1 - bound}, y, x);
}

const bool entered[] = {
    EnterUnary<ExpOf>("exp", Floating{}),
    EnterUnary<Exp2Of>("exp2", Floating{}),
    EnterUnary<Expm1Of>("expm1", Floating{}),
    EnterUnary<LogOf>("log", Floating{}),
    EnterUnary<Log2Of>("log2", Floating{}),
    EnterUnary<Log10Of>("log10", Floating{}),
    EnterUnary<Log1pOf>("log1p", Floating{}),
    EnterUnary<SqrtOf>("sqrt", Floating{}),
    EnterUnary<RsqrtOf>("rsqrt", Floating{}),
    EnterUnary<CbrtOf>("cbrt", Floating{}),
    EnterUnary<ErfOf>("erf", Floating{}),
    EnterUnary<ErfcOf>("erfc", Floating{}),
    EnterUnary<SigmoidOf>("sigmoid", Floating{}),
    EnterUnary<ReciprocalOf>("reciprocal", Floating{}),
    EnterUnary<EntrOf>("entr", Floating{}),
    EnterWide(kernels::kLogit, Floating{}, []<typename T>(TypeTag<T>) { return &Logit<T>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
