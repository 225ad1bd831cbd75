// Quotients rounded to integers and what remains of them, greatest common divisors, and powers.
#include <atomic>

#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the functors are named after its functions

/// Remembers that some divisor was zero; a GPU, which cannot report it in time, yields 0 in silence.
class ZeroDivision {
 public:
  explicit ZeroDivision(const char* who) : who_(who) {}
  void Check() const {
    if (seen_) throw ValueError(who_).Got("a zero among integer divisors").Expected("none");
  }
  std::atomic<bool>* flag() { return &seen_; }

 private:
  const char* who_;
  std::atomic<bool> seen_{false};
};

template <typename T>
struct Divides {
  static constexpr bool kPoints = std::is_integral_v<T>;
  std::atomic<bool>* by_zero = nullptr;

  /// True when `b` cannot divide.
  DRAGON_FN bool Refuses(T b) const {
    if (b != 0) return false;
#if !defined(DRAGON_GPU)
    by_zero->store(true, std::memory_order_relaxed);
#endif
    return true;
  }
  /// The least integer over -1 overflows: negate with wrapping instead.
  DRAGON_FN static bool Negates(T b) { return std::is_signed_v<T> && b == static_cast<T>(-1); }
  DRAGON_FN static T Negative(T a) { return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a)); }
};

template <typename T>
struct TruncDivideOf : Divides<T> {
  static constexpr const char* kName = "trunc_divide";
  DRAGON_FN T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (this->Refuses(b)) return 0;
      return this->Negates(b) ? this->Negative(a) : static_cast<T>(a / b);
    } else {
      return Trunc(a / b);
    }
  }
};

/// As Python's //: of floats the remainder is taken away first, so that the quotient is exact before it is rounded.
#if defined(__FMA__) && !defined(__CUDACC__)
/// fmod of a short run, vector by vector: the quotient cut to an integer tells the remainder exactly while it is small;
/// the others, infinities and NaN go to the C library one by one.
inline constexpr int64_t kRun = 64;
template <typename T>
void FmodRun(int64_t n, const T* DRAGON_RESTRICT a, const T* DRAGON_RESTRICT b, T* DRAGON_RESTRICT rest) {
  constexpr T kExact = sizeof(T) == 4 ? T(1 << 22) : T(int64_t{1} << 51);
  uint32_t hard = 0;
#pragma omp simd reduction(| : hard)
  for (int64_t i = 0; i < n; ++i) {
    const T quotient = Trunc(a[i] / b[i]);
    const T plain = std::fma(-quotient, b[i], a[i]);
    // The division may have rounded up to the next integer: then the remainder came out on the other side of 0.
    const T other_side = plain + CopySign(b[i], a[i]);
    const bool crossed = (plain != 0) & ((plain < 0) != (a[i] < 0));
    const T signed_rest = CopySign(crossed ? other_side : plain, a[i]);
    rest[i] = signed_rest;
    hard |= !(Abs(quotient) < kExact) | (plain != plain) | (Abs(b[i]) < T(1e-30)) ? 1u : 0u;
  }
  if (DRAGON_LIKELY(!hard)) return;
  for (int64_t i = 0; i < n; ++i) rest[i] = Fmod(a[i], b[i]);
}

/// finish(a, b, fmod(a, b)) for n elements; y may be a or b.
template <typename T, typename Finish>
void OverRests(int64_t n, T* y, const T* a, const T* b, Finish finish) {
  T rest[kRun];
  for (int64_t first = 0; first < n; first += kRun) {
    const int64_t count = std::min(kRun, n - first);
    FmodRun(count, a + first, b + first, rest);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) y[first + i] = finish(a[first + i], b[first + i], rest[i]);
  }
}
#define DRAGON_RUNS_OF_FLOATS(...)                          \
  void Block(int64_t n, T* y, const T* a, const T* b) const \
    requires std::is_floating_point_v<T>                    \
  {                                                         \
    OverRests(n, y, a, b, __VA_ARGS__);                     \
  }
#else
#define DRAGON_RUNS_OF_FLOATS(...)
#endif

template <typename T>
struct FloorDivideOf : Divides<T> {
  static constexpr const char* kName = "floor_divide";
  DRAGON_RUNS_OF_FLOATS([](T x, T by, T rest) {
    const T plain = x / by, exact = (x - rest) / by;
    const T quotient = exact - ((rest != 0) & ((by < 0) != (rest < 0)) ? T(1) : T(0));
    const T floor = Floor(quotient);
    const T rounded = floor + (quotient - floor > T(0.5) ? T(1) : T(0));
    const T whole = quotient == 0 ? CopySign(T(0), plain) : rounded;
    return by == 0 ? plain : whole;
  })
  DRAGON_FN T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (this->Refuses(b)) return 0;
      if (this->Negates(b)) return this->Negative(a);
      const T quotient = static_cast<T>(a / b);
      return (a % b != 0) && ((a < 0) != (b < 0)) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      if (b == 0) return a / b;
      const T rest = Fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
      if (quotient == 0) return CopySign(T(0), a / b);
      const T floor = Floor(quotient);
      return quotient - floor > T(0.5) ? floor + 1 : floor;
    }
  }
};

/// The remainder of truncation: it has the sign of the dividend.
template <typename T>
struct FmodOf : Divides<T> {
  static constexpr const char* kName = "fmod";
  static constexpr int kCost = 8;
  DRAGON_RUNS_OF_FLOATS([](T, T, T rest) { return rest; })
  DRAGON_FN T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return this->Refuses(b) || this->Negates(b) ? T(0) : static_cast<T>(a % b);
    } else {
      return Fmod(a, b);
    }
  }
};

/// The remainder of flooring: it has the sign of the divisor.
template <typename T>
struct RemainderOf : Divides<T> {
  static constexpr const char* kName = "remainder";
  static constexpr int kCost = 8;
  DRAGON_RUNS_OF_FLOATS([](T, T by, T rest) { return (rest != 0) & ((rest < 0) != (by < 0)) ? rest + by : rest; })
  DRAGON_FN T operator()(T a, T b) const {
    const T rest = FmodOf<T>{this->by_zero}(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};

template <template <typename> class F, typename T>
void DivideBy(Context& ctx, View y, View a, View b) {
  ZeroDivision zero(F<T>::kName);
  Each<T(T, T)>(ctx, F<T>{zero.flag()}, y, a, b);
  zero.Check();
}
template <template <typename> class F>
bool EnterDivision() {
  const kernels::Binary kernel{F<float>::kName};
  const auto make = []<typename T>(TypeTag<T>) { return &DivideBy<F, T>; };
  return EnterWide(kernel, Real{}, make) && EnterWide(kernel, Largest{}, make);
}

template <typename T>
DRAGON_FN auto UnsignedMagnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U(0) - static_cast<U>(x)) : static_cast<U>(x);
}
struct GcdOf : Cost<32> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    auto m = UnsignedMagnitude(a), n = UnsignedMagnitude(b);
    while (n != 0) {
      const auto rest = static_cast<decltype(n)>(m % n);
      m = n;
      n = rest;
    }
    return static_cast<T>(m);
  }
};
struct LcmOf : Cost<32> {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    const auto divisor = UnsignedMagnitude(GcdOf{}(a, b));
    if (divisor == 0) return 0;
    const auto product = static_cast<Wrapping<T>>(UnsignedMagnitude(a) / divisor) * UnsignedMagnitude(b);
    return static_cast<T>(UnsignedMagnitude(static_cast<T>(product)));
  }
};

/// Integers wrap. Below exponent 0 only 1 and -1 have integer powers; every other base gives 0.
struct PowOf : Cost<8> {
  template <typename T>
  DRAGON_FN T operator()(T base, T exponent) const {
    if constexpr (std::is_integral_v<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        return base == static_cast<T>(-1) ? (exponent % 2 ? static_cast<T>(-1) : T(1)) : T(0);
      }
      Wrapping<T> power = 1, square = static_cast<Wrapping<T>>(base);
      for (auto left = exponent; left > 0; left = static_cast<T>(left >> 1), square *= square) {
        if (left & 1) power *= square;
      }
      return static_cast<T>(power);
    } else {
#if defined(DRAGON_GPU)  // one exponent for all is nearly always one of these; the host would have to wait to know it
      if (exponent == 2) return base * base;
      if (exponent == 3) return base * base * base;
      if (exponent == -2) return 1 / (base * base);
#endif
      // The vector function treats only positive bases at speed; what a sign does to the power is known. (& and |,
      // because
      // && and || would branch, and the call with them.)
      const T size = Pow(Abs(base), exponent), half = exponent / 2;
      const bool whole = exponent == Trunc(exponent), odd = whole & (half != Trunc(half));
      const T below = Select(whole | (base == -std::numeric_limits<T>::infinity()), Select(odd, -size, size),
                             std::numeric_limits<T>::quiet_NaN());
      return Select((base < 0) | ((base == 0) & odd & SignBit(base)), below, size);
    }
  }
};
struct CubeOf {
  DRAGON_FN auto operator()(auto x) const { return x * x * x; }
};
struct SquareOf {
  DRAGON_FN auto operator()(auto x) const { return x * x; }
};
struct InverseSquareOf {
  DRAGON_FN auto operator()(auto x) const { return 1 / (x * x); }
};

template <typename T>
void Power(Context& ctx, View y, View base, View exponent) {
#if !defined(DRAGON_GPU)
  // A lone exponent is nearly always one of these, and a product is both faster and more exact than pow.
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent.numel == 1 && exponent.dtype == kDTypeOf<T> && base.dtype == y.dtype) {
      const T value = *exponent.as<T>();
      if (value == 2) return Each<T(T)>(ctx, SquareOf{}, y, base);
      if (value == 3) return Each<T(T)>(ctx, CubeOf{}, y, base);
      if (value == -2) return Each<T(T)>(ctx, InverseSquareOf{}, y, base);
    }
  }
#endif
  Each<T(T, T)>(ctx, PowOf{}, y, base, exponent);
}

const bool entered[] = {
    EnterDivision<TruncDivideOf>(),
    EnterDivision<FloorDivideOf>(),
    EnterDivision<FmodOf>(),
    EnterDivision<RemainderOf>(),
    EnterWide(kernels::Binary{"pow"}, Real{}, []<typename T>(TypeTag<T>) { return &Power<T>; }),
    EnterBinary<GcdOf>("gcd", Integral{}),
    EnterBinary<LcmOf>("lcm", Integral{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
