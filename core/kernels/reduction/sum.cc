// Sums, means, products and counts.
#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What a sum of T is returned as.
template <typename T>
using Total = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

/// Integer sums wrap around as PyTorch's do; in unsigned arithmetic that is no undefined behaviour.
template <typename T>
DRAGON_FN T Plus(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename T>
DRAGON_FN T Times(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <typename T, bool kMean>
struct SumOf : Elementwise<SumOf<T, kMean>> {
  using Element = T;
  using State = Accumulator<T>;
  Total<T>* y;

  DRAGON_FN State Identity() const { return State(0); }
  DRAGON_FN State Map(T x, int64_t) const { return static_cast<State>(x); }
  DRAGON_FN State Combine(State a, State b) const { return Plus(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t count) const {
    if constexpr (kMean) {
      y[offset] = static_cast<T>(s / State(static_cast<RealOf<State>>(count)));
    } else {
      y[offset] = static_cast<Total<T>>(s);
    }
  }
};

template <typename T>
struct NanSumOf : Elementwise<NanSumOf<T>> {
  using Element = T;
  using State = Accumulator<T>;
  Total<T>* y;

  DRAGON_FN State Identity() const { return State(0); }
  DRAGON_FN State Map(T x, int64_t) const {
    const State value = static_cast<State>(x);
    return value == value ? value : State(0);
  }
  DRAGON_FN State Combine(State a, State b) const { return Plus(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<Total<T>>(s); }
};

template <typename T>
struct ProdOf : Elementwise<ProdOf<T>> {
  using Element = T;
  using State = Accumulator<T>;
  Total<T>* y;

  DRAGON_FN State Identity() const { return State(1); }
  DRAGON_FN State Map(T x, int64_t) const { return static_cast<State>(x); }
  DRAGON_FN State Combine(State a, State b) const { return Times(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<Total<T>>(s); }
};

template <typename T>
struct CountOf : Elementwise<CountOf<T>> {
  using Element = T;
  using State = int64_t;
  int64_t* y;

  DRAGON_FN State Identity() const { return 0; }
  DRAGON_FN State Map(T x, int64_t) const { return x != T(0) ? 1 : 0; }
  DRAGON_FN State Combine(State a, State b) const { return a + b; }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = s; }
};

const bool entered[] = {
    kernels::Enter(kernels::Sum, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<SumOf<T, false>>; }),
    kernels::Enter(kernels::Mean, Inexact{}, []<typename T>(TypeTag<T>) { return &ReduceBy<SumOf<T, true>>; }),
    kernels::Enter(kernels::NanSum, Floating{}, []<typename T>(TypeTag<T>) { return &ReduceBy<NanSumOf<T>>; }),
    kernels::Enter(kernels::Prod, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ProdOf<T>>; }),
    kernels::Enter(kernels::CountNonzero, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<CountOf<T>>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
