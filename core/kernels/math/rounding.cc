// Signs, magnitudes, roundings, and tests of what kind of number a number is.
#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

struct NegOf {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));  // the least integer is its own negative
    } else {
      return -x;
    }
  }
};
struct AbsOf {
  template <typename T>
  DRAGON_FN RealOf<T> operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return Hypot(x.re, x.im);
    } else if constexpr (std::is_integral_v<T>) {
      return x < 0 ? NegOf{}(x) : x;
    } else {
      return Abs(x);
    }
  }
};
struct SignOf {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      const auto length = Hypot(x.re, x.im);
      return length == 0 ? T(0) : T(x.re / length, x.im / length);
    } else {
      return static_cast<T>((x > T(0)) - (x < T(0)));
    }
  }
};
struct SquareOf {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
    } else {
      return x * x;
    }
  }
};
struct CeilOf {
  DRAGON_FN auto operator()(auto x) const { return Ceil(x); }
};
struct FloorOf {
  DRAGON_FN auto operator()(auto x) const { return Floor(x); }
};
struct TruncOf {
  DRAGON_FN auto operator()(auto x) const { return Trunc(x); }
};
struct FracOf {
  DRAGON_FN auto operator()(auto x) const { return x - Trunc(x); }
};

/// Ties go to even. A negative count of decimals rounds to tens, hundreds, ...
template <typename T>
struct RoundOf {
  T scale;
  bool divides;
  DRAGON_FN T operator()(T x) const { return divides ? Rint(x / scale) * scale : Rint(x * scale) / scale; }
};
struct RintOf {
  DRAGON_FN auto operator()(auto x) const { return Rint(x); }
};
template <typename T>
void Round(Context& ctx, View y, View x, int64_t decimals) {
  if (decimals == 0) return Each<T(T)>(ctx, RintOf{}, y, x);
  const auto scale = static_cast<T>(std::pow(10.0, std::abs(static_cast<double>(decimals))));
  Each<T(T)>(ctx, RoundOf<T>{scale, decimals < 0}, y, x);
}

struct IsNanOf {
  DRAGON_FN bool operator()(auto x) const { return x != x; }
};
template <typename T>
DRAGON_FN bool IsInfinite(T x) {
  if constexpr (kIsComplex<T>) {
    return IsInfinite(x.re) || IsInfinite(x.im);
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return IsInf(x);
  }
}
struct IsInfOf {
  DRAGON_FN bool operator()(auto x) const { return IsInfinite(x); }
};
struct IsFiniteOf {
  template <typename T>
  DRAGON_FN bool operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return (*this)(x.re) && (*this)(x.im);
    } else if constexpr (std::is_integral_v<T>) {
      return true;
    } else {
      return Abs(x) < std::numeric_limits<T>::infinity();
    }
  }
};
struct IsPosInfOf {
  template <typename T>
  DRAGON_FN bool operator()(T x) const {
    return IsInfinite(x) && x > T(0);
  }
};
struct IsNegInfOf {
  template <typename T>
  DRAGON_FN bool operator()(T x) const {
    return IsInfinite(x) && x < T(0);
  }
};
struct SignBitOf {
  template <typename T>
  DRAGON_FN bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < T(0);
    } else {
      return SignBit(x);
    }
  }
};

template <typename T>
struct NanToNumOf {
  T nan, posinf, neginf;
  DRAGON_FN T operator()(T x) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return x != x ? nan : x == kInfinity ? posinf : x == -kInfinity ? neginf : x;
  }
};
template <typename T>
void NanToNum(Context& ctx, View y, View x, double nan, double posinf, double neginf) {
  Each<T(T)>(ctx, NanToNumOf<T>{static_cast<T>(nan), static_cast<T>(posinf), static_cast<T>(neginf)}, y, x);
}

/// x = mantissa * 2^exponent with the mantissa's magnitude in [0.5, 1); zeros, infinities and NaN have exponent 0.
struct FrexpMantissaOf : Cost<8> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    int exponent;
    return std::frexp(x, &exponent);
  }
};
struct FrexpExponentOf : Cost<8> {
  template <typename T>
  DRAGON_FN int32_t operator()(T x) const {
    int exponent = 0;
    std::frexp(x, &exponent);
    return x == T(0) || !(Abs(x) < std::numeric_limits<T>::infinity()) ? 0 : exponent;
  }
};

const bool entered[] = {
    EnterUnary<NegOf>("neg", Numeric{}),
    EnterUnary<AbsOf>("abs", Numeric{}),
    EnterUnary<SignOf>("sign", RealAndBool{}),
    EnterUnary<SignOf>("sgn", AllTypes{}),
    EnterUnary<SquareOf>("square", AllTypes{}),
    EnterUnary<CeilOf>("ceil", Floating{}),
    EnterUnary<FloorOf>("floor", Floating{}),
    EnterUnary<TruncOf>("trunc", Floating{}),
    EnterUnary<FracOf>("frac", Floating{}),
    EnterWide(kernels::UnaryWithInt{"round"}, Floating{}, []<typename T>(TypeTag<T>) { return &Round<T>; }),
    EnterUnary<IsNanOf>("isnan", AllTypes{}),
    EnterUnary<IsInfOf>("isinf", AllTypes{}),
    EnterUnary<IsFiniteOf>("isfinite", AllTypes{}),
    EnterUnary<IsPosInfOf>("isposinf", RealAndBool{}),
    EnterUnary<IsNegInfOf>("isneginf", RealAndBool{}),
    EnterUnary<SignBitOf>("signbit", RealAndBool{}),
    EnterWide(kernels::kNanToNum, Floating{}, []<typename T>(TypeTag<T>) { return &NanToNum<T>; }),
    EnterUnary<FrexpMantissaOf>("frexp_mantissa", Floating{}),
    EnterUnary<FrexpExponentOf>("frexp_exponent", Floating{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
