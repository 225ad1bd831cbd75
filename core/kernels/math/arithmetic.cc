// Sums, products, extremes, and their fused forms. Integers wrap; booleans add as "or" and multiply as "and".
#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

template <typename T>
DRAGON_FN T Plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}
template <typename T>
DRAGON_FN T Times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else {
    return a * b;
  }
}

struct AddOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return Plus(a, b); }
};
struct SubOf {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    } else {
      return a - b;
    }
  }
};
struct MulOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return Times(a, b); }
};
struct DivOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return a / b; }
};

/// NaN wins: of two numbers the comparison decides, and a NaN in b makes it false. (|, because || would branch.)
struct MaximumOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return (a > b) | (a != a) ? a : b; }
};
struct MinimumOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return (a < b) | (a != a) ? a : b; }
};
/// Numbers win over NaN.
struct FmaxOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return (a < b) | (a != a) ? b : a; }
};
struct FminOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return (a > b) | (a != a) ? b : a; }
};
struct ClampOf {
  template <typename T>
  DRAGON_FN T operator()(T x, T low, T high) const {
    if constexpr (std::is_floating_point_v<T>) {  // by bits: two nested choices would be threaded into branches
      const T raised = Select((x > low) | (x != x), x, low);
      return Select((raised < high) | (raised != raised), raised, high);
    } else {
      return MinimumOf{}(MaximumOf{}(x, low), high);
    }
  }
};
struct HeavisideOf {
  template <typename T>
  DRAGON_FN T operator()(T x, T at_zero) const {
    return x == T(0) ? at_zero : static_cast<T>(x > T(0));
  }
};
struct CopySignOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return CopySign(a, b); }
};
struct NextAfterOf : Cost<8> {
  DRAGON_FN auto operator()(auto a, auto b) const { return NextAfter(a, b); }
};
/// Of 16 bits: the neighbours of a number are those of its bits.
struct NextAfterHalfOf {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    const float x = a, y = b;
    if (x != x || y != y) return T(x + y);
    if (x == y) return b;
    T next = a;
    if (x == 0) {
      next.bits = static_cast<uint16_t>(y > 0 ? 0x0001u : 0x8001u);
    } else {
      next.bits = static_cast<uint16_t>((x < y) == (x > 0) ? a.bits + 1 : a.bits - 1);
    }
    return next;
  }
};
template <typename T>
void NextAfterHalf(Context& ctx, View y, View a, View b) {
  Each<T(T, T)>(ctx, NextAfterHalfOf{}, y, a, b);
}

using Halves = TypeList<float16, bfloat16>;

/// The number `value` stands for in T: an integer is the sum of both parts, a real type has no use for the imaginary
/// one.
template <typename T>
T FromNumber(complex128 value) {
  if constexpr (kIsComplex<T>) {
    return T(value);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<T>(static_cast<__int128>(value.re) + static_cast<__int128>(value.im));
  } else {
    return static_cast<T>(value.re);
  }
}

template <typename T>
struct AddScaledOf {
  T alpha;
  DRAGON_FN T operator()(T a, T b) const { return Plus(a, Times(alpha, b)); }
};
template <typename T>
void AddScaled(Context& ctx, View y, View a, View b, complex128 alpha) {
  Each<T(T, T)>(ctx, AddScaledOf<T>{FromNumber<T>(alpha)}, y, a, b);
}

template <typename T>
struct AddcmulOf {
  T value;
  DRAGON_FN T operator()(T a, T b, T c) const { return Plus(a, Times(Times(value, b), c)); }
};
template <typename T>
struct AddcdivOf {
  T value;
  DRAGON_FN T operator()(T a, T b, T c) const { return a + value * (b / c); }
};
template <template <typename> class F, typename T>
void AddFused(Context& ctx, View y, View a, View b, View c, complex128 value) {
  Each<T(T, T, T)>(ctx, F<T>{FromNumber<T>(value)}, y, a, b, c);
}

/// Starts from the nearer end, so that weights 0 and 1 give the ends exactly.
struct LerpOf {
  template <typename T>
  DRAGON_FN T operator()(T a, T b, T weight) const {
    bool near_a;
    if constexpr (kIsComplex<T>) {
      near_a = weight.re * weight.re + weight.im * weight.im < RealOf<T>(0.25);
    } else {
      near_a = Abs(weight) < T(0.5);
    }
    return near_a ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
  }
};

/// The conjugate of a complex number; a real one itself.
template <typename T>
DRAGON_FN T Conjugate(T x) {
  if constexpr (kIsComplex<T>) {
    return Conj(x);
  } else {
    return x;
  }
}
struct SigmoidBackwardOf {
  template <typename T>
  DRAGON_FN T operator()(T dy, T y) const {
    return dy * Conjugate((T(1) - y) * y);
  }
};
struct TanhBackwardOf {
  template <typename T>
  DRAGON_FN T operator()(T dy, T y) const {
    return dy * Conjugate(T(1) - y * y);
  }
};

template <typename T>
struct ThresholdOf {
  T threshold, value;
  DRAGON_FN T operator()(T x) const { return x <= threshold ? value : x; }
};
template <typename T>
void Threshold(Context& ctx, View y, View x, double threshold, double value) {
  Each<T(T)>(ctx, ThresholdOf<T>{static_cast<T>(threshold), static_cast<T>(value)}, y, x);
}

const bool entered[] = {
    EnterBinary<AddOf>("add", AllTypes{}),
    EnterBinary<SubOf>("sub", Numeric{}),
    EnterBinary<MulOf>("mul", AllTypes{}),
    EnterBinary<DivOf>("div", Inexact{}),
    EnterBinary<MaximumOf>("maximum", RealAndBool{}),
    EnterBinary<MinimumOf>("minimum", RealAndBool{}),
    EnterBinary<FmaxOf>("fmax", RealAndBool{}),
    EnterBinary<FminOf>("fmin", RealAndBool{}),
    EnterBinary<HeavisideOf>("heaviside", RealAndBool{}),
    EnterBinary<CopySignOf>("copysign", Floating{}),
    EnterBinary<NextAfterOf>("nextafter", Singles{}),
    kernels::Enter(kernels::Binary{"nextafter"}, Halves{}, []<typename T>(TypeTag<T>) { return &NextAfterHalf<T>; }),
    EnterBinary<MaximumOf>("maximum", Largest{}),
    EnterBinary<MinimumOf>("minimum", Largest{}),
    EnterTernary<ClampOf>("clamp", Largest{}),
    EnterBinary<SigmoidBackwardOf>("sigmoid_backward", Inexact{}),
    EnterBinary<TanhBackwardOf>("tanh_backward", Inexact{}),
    EnterTernary<ClampOf>("clamp", RealAndBool{}),
    EnterTernary<LerpOf>("lerp", Inexact{}),
    EnterWide(kernels::kAddScaled, AllTypes{}, []<typename T>(TypeTag<T>) { return &AddScaled<T>; }),
    EnterWide(kernels::kAddcmul, AllTypes{}, []<typename T>(TypeTag<T>) { return &AddFused<AddcmulOf, T>; }),
    EnterWide(kernels::kAddcdiv, Inexact{}, []<typename T>(TypeTag<T>) { return &AddFused<AddcdivOf, T>; }),
    EnterWide(kernels::kThreshold, Real{}, []<typename T>(TypeTag<T>) { return &Threshold<T>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
