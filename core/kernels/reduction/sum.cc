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

/// The lanes of vectors, which have no other arithmetic.
template <typename T>
using SumLane = std::conditional_t<std::is_same_v<Accumulator<T>, int64_t>, uint64_t, Accumulator<T>>;

template <typename T, bool kMean>
struct SumOf : Elementwise<SumOf<T, kMean>, SumLane<T>> {
  using Element = T;
  using State = Accumulator<T>;
  using Alike = SumOf<T, false>;
  Total<T>* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return Plus(a, b);
  }
  DRAGON_FN State Identity() const { return State(0); }
  DRAGON_FN State Map(T x, int64_t) const { return static_cast<State>(x); }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
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

  template <typename V>
  DRAGON_FN static V Term(V x) {
    return x == x ? x : V{};
  }
  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return a + b;
  }
  DRAGON_FN State Identity() const { return State(0); }
  DRAGON_FN State Map(T x, int64_t) const { return Term(static_cast<State>(x)); }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<Total<T>>(s); }
};

template <typename T>
struct ProdOf : Elementwise<ProdOf<T>, SumLane<T>> {
  using Element = T;
  using State = Accumulator<T>;
  Total<T>* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return Times(a, b);
  }
  DRAGON_FN State Identity() const { return State(1); }
  DRAGON_FN State Map(T x, int64_t) const { return static_cast<State>(x); }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
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

#if defined(DRAGON_GPU)

template <typename T>
using SumFor = SumOf<T, false>;
template <typename T>
using CountFor = CountOf<T>;

#else

/// Sums of integers of at most 16 bits, in lanes of 32 as far as a row goes.
template <typename T>
struct NarrowSum : Elementwise<NarrowSum<T>, int32_t> {
  using Element = T;
  using State = int64_t;
  int64_t* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return a + b;
  }
  State Identity() const { return 0; }
  State Map(T x, int64_t) const { return x; }
  State Combine(State a, State b) const { return a + b; }
  void Store(int64_t offset, State s, int64_t) const { y[offset] = s; }
};
static_assert(kRowBlock * 65536 < int64_t{1} << 31);

/// How many are true: sums of bytes as far as these go.
struct TrueCount {
  static constexpr bool kOrdered = false, kGoesOn = true;
  using Element = bool;
  using State = int64_t;
  int64_t* y;

  State Identity() const { return 0; }
  State Map(bool x, int64_t) const { return x; }
  State Combine(State a, State b) const { return a + b; }
  void Store(int64_t offset, State s, int64_t) const { y[offset] = s; }

  static State Row(const bool* x, int64_t n, int64_t) {
    static_assert(kRowBlock / kBytes + kBytes / kVectorBytes < 256);
    constexpr int kCount = kBytes / kVectorBytes;
    Vector<uint8_t> lanes[kCount] = {};
    int64_t i = 0;
    for (; i + kBytes <= n; i += kBytes) {
#pragma GCC unroll 16
      for (int k = 0; k < kCount; ++k) lanes[k] += LoadVector<uint8_t>(x + i + k * kVectorBytes);
    }
    for (; i + kVectorBytes <= n; i += kVectorBytes) lanes[0] += LoadVector<uint8_t>(x + i);
    if (i < n) lanes[1] += LoadSome<uint8_t>(x + i, static_cast<int>(n - i));
    Vector<uint64_t> sums = {};
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) {
      constexpr uint64_t kEven = 0x00FF00FF00FF00FF;
      const auto bytes = reinterpret_cast<Vector<uint64_t>>(lanes[k]);
      sums += (bytes & kEven) + (bytes >> 8 & kEven);  // four numbers of 16 bits, far from full
    }
    const uint64_t sum = FoldVector<uint64_t>(sums, [](auto a, auto b) { return a + b; });
    return static_cast<State>((sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32 & 0xFFFF) + (sum >> 48));
  }
  static void Columns(const bool* x, int64_t rows, int64_t stride, int64_t cols, int64_t, bool go_on, State* acc) {
    static_assert(kColumnBlock < 256);
    uint8_t sums[kBytes];
    for (int64_t first = 0; first < cols; first += kBytes) {
      const int64_t width = std::min<int64_t>(kBytes, cols - first);
      std::fill_n(sums, width, uint8_t{0});
      for (int64_t i = 0; i < rows; ++i) {
        const bool* DRAGON_RESTRICT row = x + i * stride + first;
#pragma omp simd
        for (int64_t j = 0; j < width; ++j) sums[j] = static_cast<uint8_t>(sums[j] + row[j]);
      }
#pragma omp simd
      for (int64_t j = 0; j < width; ++j) acc[first + j] = (go_on ? acc[first + j] : 0) + sums[j];
    }
  }

 private:
  static constexpr int kBytes = 256;
};

template <typename T>
using SumFor =
    std::conditional_t<std::is_same_v<T, bool>, TrueCount,
                       std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, NarrowSum<T>, SumOf<T, false>>>;
template <typename T>
using CountFor = TrueCount;

#endif

const bool entered[] = {
    kernels::Enter(kernels::Sum, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<SumFor<T>>; }),
    kernels::Enter(kernels::Mean, Inexact{}, []<typename T>(TypeTag<T>) { return &ReduceBy<SumOf<T, true>>; }),
    kernels::Enter(kernels::NanSum, Floating{}, []<typename T>(TypeTag<T>) { return &ReduceBy<NanSumOf<T>>; }),
    kernels::Enter(kernels::Prod, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ProdOf<T>>; }),
    kernels::Enter(kernels::CountNonzero, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<CountFor<T>>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
