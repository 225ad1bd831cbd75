// log(sum(exp(x))): each block remembers its largest element and the sum of exponentials relative to it.
#include "core/kernels/lanes.h"
#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename A>
struct ScaledSum {
  A max, sum;
};

template <typename T>
struct LogSumExpOf {
  static constexpr bool kOrdered = false;
  using Element = T;
  using A = Accumulator<T>;
  using State = ScaledSum<A>;
  T* y;

  /// What exponents are taken relative to: an infinite maximum would make inf - inf.
  DRAGON_FN static A Base(A max) { return max - max == A(0) ? max : A(0); }

  DRAGON_FN State Identity() const { return {-std::numeric_limits<A>::infinity(), A(0)}; }
  DRAGON_FN State Map(T x, int64_t) const {
    const A value = static_cast<A>(x);
    return {value, Exp(value - Base(value))};
  }
  DRAGON_FN State Combine(State a, State b) const {
    const A max = (a.max > b.max || a.max != a.max) ? a.max : b.max, base = Base(max);
    return {max, Part(a, base) + Part(b, base)};
  }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<T>(Log(s.sum) + Base(s.max)); }

  State Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t) const {
    const A max = LaneMax<A>(n, [x](int64_t i) { return static_cast<A>(x[i]); }), base = Base(max);
    return {max, LaneSum<A>(n, [=](int64_t i) { return Exp(static_cast<A>(x[i]) - base); })};
  }
  void Columns(const T* x, int64_t rows, int64_t stride, int64_t cols, int64_t, State* acc) const {
    constexpr int64_t kCols = 512;
    A base[kCols], max[kCols], sum[kCols];
    for (int64_t first = 0; first < cols; first += kCols) {
      const int64_t width = std::min<int64_t>(kCols, cols - first);
      ColumnsOf(x + first, rows, stride, width, max, base, sum);
      for (int64_t j = 0; j < width; ++j) acc[first + j] = {max[j], sum[j]};
    }
  }

 private:
  DRAGON_FN static A Part(State s, A base) { return s.sum == A(0) ? A(0) : s.sum * Exp(Base(s.max) - base); }
  static void ColumnsOf(const T* x, int64_t rows, int64_t stride, int64_t cols, A* DRAGON_RESTRICT max,
                        A* DRAGON_RESTRICT base, A* DRAGON_RESTRICT sum) {
    for (int64_t j = 0; j < cols; ++j) max[j] = static_cast<A>(x[j]);
    for (int64_t i = 1; i < rows; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) {
        const A value = static_cast<A>(row[j]);
        max[j] = (max[j] > value || max[j] != max[j]) ? max[j] : value;
      }
    }
    for (int64_t j = 0; j < cols; ++j) base[j] = Base(max[j]), sum[j] = A(0);
    for (int64_t i = 0; i < rows; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) sum[j] += Exp(static_cast<A>(row[j]) - base[j]);
    }
  }
};

[[maybe_unused]] const bool entered = kernels::Enter(
    kernels::LogSumExp, Floating{}, []<typename T>(TypeTag<T>) { return &ReduceBy<LogSumExpOf<Loaded<T>>>; });

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
