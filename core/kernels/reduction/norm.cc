// Vector norms of any order.
#include <cmath>

#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct NormBase {
  using Element = T;
  using State = Wide<RealOf<T>>;
  using Output = std::conditional_t<kIsComplex<T>, RealOf<T>, T>;
  Output* y;

  DRAGON_FN static State Magnitude(T x) {
    if constexpr (kIsComplex<T>) {
      return std::hypot(x.re, x.im);
    } else {
      return std::abs(static_cast<State>(x));
    }
  }
};

enum class Order { kZero, kOne, kTwo, kMax, kMin };

/// The orders that need no power of each element.
template <typename T, Order kOrder>
struct SimpleNorm : NormBase<T>, Elementwise<SimpleNorm<T, kOrder>> {
  using State = typename NormBase<T>::State;

  DRAGON_FN State Identity() const { return kOrder == Order::kMin ? std::numeric_limits<State>::infinity() : State(0); }
  DRAGON_FN State Map(T x, int64_t) const {
    if constexpr (kOrder == Order::kZero) return x != T(0) ? State(1) : State(0);
    if constexpr (kOrder == Order::kTwo && kIsComplex<T>) return x.re * x.re + x.im * x.im;
    if constexpr (kOrder == Order::kTwo && !kIsComplex<T>) return static_cast<State>(x) * static_cast<State>(x);
    return NormBase<T>::Magnitude(x);
  }
  DRAGON_FN State Combine(State a, State b) const {
    if constexpr (kOrder == Order::kMax) return (a > b || a != a) ? a : b;
    if constexpr (kOrder == Order::kMin) return (a < b || a != a) ? a : b;
    return a + b;
  }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const {
    this->y[offset] = static_cast<typename NormBase<T>::Output>(kOrder == Order::kTwo ? std::sqrt(s) : s);
  }
};

template <typename T>
struct PowerNorm : NormBase<T>, Elementwise<PowerNorm<T>> {
  using State = typename NormBase<T>::State;
  State p;

  DRAGON_FN State Identity() const { return State(0); }
  DRAGON_FN State Map(T x, int64_t) const { return std::pow(NormBase<T>::Magnitude(x), p); }
  DRAGON_FN State Combine(State a, State b) const { return a + b; }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const {
    this->y[offset] = static_cast<typename NormBase<T>::Output>(std::pow(s, State(1) / p));
  }
};

}  // namespace

template <typename T>
void Norm(Context& ctx, View y, View x, double p) {
  if (p == 0) return ReduceBy<SimpleNorm<T, Order::kZero>>(ctx, y, x);
  if (p == 1) return ReduceBy<SimpleNorm<T, Order::kOne>>(ctx, y, x);
  if (p == 2) return ReduceBy<SimpleNorm<T, Order::kTwo>>(ctx, y, x);
  if (std::isinf(p) && p > 0) return ReduceBy<SimpleNorm<T, Order::kMax>>(ctx, y, x);
  if (std::isinf(p)) return ReduceBy<SimpleNorm<T, Order::kMin>>(ctx, y, x);
  PowerNorm<T> reducer;
  reducer.y = y.as<typename NormBase<T>::Output>();
  reducer.p = static_cast<typename NormBase<T>::State>(p);
  Reduce(ctx, y, x, reducer);
}
DRAGON_KERNEL(Norm, Inexact);

}  // namespace dragon::DRAGON_DEVICE
