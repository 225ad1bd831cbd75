// Variance and standard deviation: two passes over a block in cache, blocks merged by Chan's formula.
#pragma once

#include "core/kernels/lanes.h"
#include "core/kernels/reduce.h"

namespace dragon::DRAGON_DEVICE {

template <typename A>
struct Moments {
  A mean, m2, count;  // m2 is the sum of squared distances from the mean
};

/// `Out` is what results are stored as; y or `second` may be null.
template <typename T, typename Out = T>
struct VarOf {
  static constexpr bool kOrdered = false;
  using Element = T;
  using A = Accumulator<T>;
  using State = Moments<A>;
  Out* y;
  Out* second;  // the mean
  double correction;
  bool root;

  DRAGON_FN State Identity() const { return {A(0), A(0), A(0)}; }
  DRAGON_FN State Map(T x, int64_t) const {
    const A mean = static_cast<A>(x);
    return {mean, mean - mean, A(1)};  // infinity is at no distance from itself, not at 0
  }
  DRAGON_FN State Combine(State a, State b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const A count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
  }
  DRAGON_FN void Store(int64_t offset, State s, int64_t count) const {
    const double free = static_cast<double>(count) - correction;
    A value = s.m2 / static_cast<A>(free > 0 ? free : 0);
    if (count == 0) value = s.mean = std::numeric_limits<A>::quiet_NaN();
    y[offset] = static_cast<Out>(root ? std::sqrt(value) : value);
    if (second) second[offset] = static_cast<Out>(s.mean);
  }

  State Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t) const {
    const A center = LaneSum<A>(n, [x](int64_t i) { return static_cast<A>(x[i]); }) / static_cast<A>(n);
    const A squares = LaneSum<A>(n, [=](int64_t i) {
      const A d = static_cast<A>(x[i]) - center;
      return d * d;
    });
    return {center, squares, static_cast<A>(n)};
  }
  void Columns(const T* x, int64_t rows, int64_t stride, int64_t cols, int64_t, State* acc) const {
    A mean_of[kCols], m2_of[kCols];
    for (int64_t first = 0; first < cols; first += kCols) {
      const int64_t width = std::min<int64_t>(kCols, cols - first);
      ColumnsOf(x + first, rows, stride, width, mean_of, m2_of);
      for (int64_t j = 0; j < width; ++j) acc[first + j] = {mean_of[j], m2_of[j], static_cast<A>(rows)};
    }
  }

 private:
  static constexpr int64_t kCols = 512;

  static void ColumnsOf(const T* x, int64_t rows, int64_t stride, int64_t cols, A* DRAGON_RESTRICT mean_of,
                        A* DRAGON_RESTRICT m2_of) {
    for (int64_t j = 0; j < cols; ++j) mean_of[j] = m2_of[j] = A(0);
    for (int64_t i = 0; i < rows; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) mean_of[j] += static_cast<A>(row[j]);
    }
    const A scale = A(1) / static_cast<A>(rows);
    for (int64_t j = 0; j < cols; ++j) mean_of[j] *= scale;
    for (int64_t i = 0; i < rows; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) {
        const A d = static_cast<A>(row[j]) - mean_of[j];
        m2_of[j] += d * d;
      }
    }
  }
};

}  // namespace dragon::DRAGON_DEVICE
