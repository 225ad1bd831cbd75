// Vector norms of any order.
#include <cmath>

#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
DRAGON_FN Wide<RealOf<T>> Magnitude(T x) {
  using W = Wide<RealOf<T>>;
  if constexpr (kIsComplex<T>) {
    return std::hypot(x.re, x.im);
  } else {
    return std::abs(static_cast<W>(x));
  }
}

enum class Order { kZero, kOne, kTwo, kMax, kMin, kAny, kSum };

/// What one element adds to a norm.
template <Order kOrder, typename T>
DRAGON_FN Wide<RealOf<T>> PowerOf(T x, Wide<RealOf<T>> p) {
  using W = Wide<RealOf<T>>;
  if constexpr (kOrder == Order::kZero) {
    return x != T(0) ? W(1) : W(0);
  } else if constexpr (kOrder == Order::kTwo && kIsComplex<T>) {
    return x.re * x.re + x.im * x.im;
  } else if constexpr (kOrder == Order::kTwo) {
    return static_cast<W>(x) * static_cast<W>(x);
  } else if constexpr (kOrder == Order::kAny) {
    return std::pow(Magnitude(x), p);
  } else {
    return Magnitude(x);
  }
}

template <typename T, Order kOrder>
struct NormOf : Elementwise<NormOf<T, kOrder>> {
  using Element = T;
  using State = Wide<RealOf<T>>;
  using Output = std::conditional_t<kIsComplex<T>, RealOf<T>, T>;
  Output* y;
  State p;

  /// Of sums and of extremes of what PowerOf has made.
  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    if constexpr (kOrder == Order::kMax) {
      if constexpr (std::is_same_v<V, State>) return a > b || a != a ? a : b;
      const V further = a > b ? a : b;
      return a != a ? a : further;
    } else if constexpr (kOrder == Order::kMin) {
      if constexpr (std::is_same_v<V, State>) return a < b || a != a ? a : b;
      const V further = a < b ? a : b;
      return a != a ? a : further;
    } else {
      return a + b;
    }
  }
  DRAGON_FN State Identity() const { return kOrder == Order::kMin ? std::numeric_limits<State>::infinity() : State(0); }
  DRAGON_FN State Map(T x, int64_t) const { return PowerOf<kOrder>(x, p); }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const {
    State norm = s;
    if constexpr (kOrder == Order::kTwo) norm = std::sqrt(s);
    if constexpr (kOrder == Order::kAny) norm = std::pow(s, State(1) / p);
    y[offset] = static_cast<Output>(norm);
  }
};

#if !defined(DRAGON_GPU)

/// The loops of norms of real numbers: of sums of what is there already (kSum), of magnitudes, of squares.
template <typename T, Order kOrder>
struct RealNorm : Elementwise<RealNorm<T, kOrder>> {
  using Element = T;
  using W = Wide<T>;
  using State = W;
  T* y;

  template <typename V>
  DRAGON_FN static V Term(V x) {
    if constexpr (kOrder == Order::kSum) return x;
    if constexpr (kOrder == Order::kZero) return x != V{} ? V{} + 1 : V{};
    if constexpr (kOrder == Order::kTwo) return x * x;
    return Absolute<W>(x);
  }
  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return NormOf<T, kOrder>::Meet(a, b);
  }
  State Identity() const { return NormOf<T, kOrder>{}.Identity(); }
  State Map(T x, int64_t) const { return Term(static_cast<W>(x)); }
  State Combine(State a, State b) const { return Meet(a, b); }
  void Store(int64_t offset, State s, int64_t count) const { NormOf<T, kOrder>{{}, y, W(0)}.Store(offset, s, count); }

  static W Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t index) {
    if constexpr (kOrder == Order::kMax || kOrder == Order::kMin) {
      if (n >= kItems<W>) {
        return LongExtreme<W, kOrder == Order::kMax>(n, [x](int64_t i) { return Term(LoadVector<W>(x + i)); });
      }
    }
    return Elementwise<RealNorm>::Row(x, n, index);
  }
};

/// Norms whose elements are made powers or magnitudes before those loops read them.
template <typename T, Order kOrder>
struct LoadedNorm : NormOf<T, kOrder> {
  static constexpr bool kSums = kOrder != Order::kMax && kOrder != Order::kMin;
  using Element = Wide<RealOf<T>>;
  using Alike = RealNorm<Element, kSums ? Order::kSum : kOrder>;

  void Load(Element* DRAGON_RESTRICT to, const void* from, int64_t n) const {
    const T* DRAGON_RESTRICT x = static_cast<const T*>(from);
    const Element power = this->p;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = PowerOf<kOrder>(x[i], power);
  }
};

#endif

template <typename T, Order kOrder>
void NormBy(Context& ctx, View y, View x, double p) {
#if defined(DRAGON_GPU)
  using R = NormOf<T, kOrder>;
#else
  constexpr bool kLoaded = kIsComplex<T> || kOrder == Order::kAny;
  using R = typename std::conditional_t<kLoaded, TypeTag<LoadedNorm<T, kOrder>>, TypeTag<RealNorm<T, kOrder>>>::type;
#endif
  R reducer{};
  if constexpr (requires { reducer.p; }) reducer.p = static_cast<typename R::State>(p);
  Reduce(ctx, y, View{}, x, reducer);
}

}  // namespace

template <typename T>
void Norm(Context& ctx, View y, View x, double p) {
  if (p == 0) return NormBy<T, Order::kZero>(ctx, y, x, p);
  if (p == 1) return NormBy<T, Order::kOne>(ctx, y, x, p);
  if (p == 2) return NormBy<T, Order::kTwo>(ctx, y, x, p);
  if (std::isinf(p) && p > 0) return NormBy<T, Order::kMax>(ctx, y, x, p);
  if (std::isinf(p)) return NormBy<T, Order::kMin>(ctx, y, x, p);
  NormBy<T, Order::kAny>(ctx, y, x, p);
}
DRAGON_KERNEL(Norm, Inexact);

}  // namespace dragon::DRAGON_DEVICE
