// Distances between all rows of two matrices. One pass over the pairs; nothing the size of all differences is stored.
#include <cmath>

#include "core/device/parallel.h"
#include "core/kernels/lanes.h"
#include "core/kernels/loss.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
Accumulator<T> Distance(const T* DRAGON_RESTRICT a, const T* DRAGON_RESTRICT b, int64_t n, double p) {
  using A = Accumulator<T>;
  const auto gap = [=](int64_t i) { return std::abs(static_cast<A>(a[i]) - static_cast<A>(b[i])); };
  if (n == 0) return A(0);
  if (p == 1) return LaneSum<A>(n, gap);
  if (p == 2) return std::sqrt(LaneSum<A>(n, [=](int64_t i) { return gap(i) * gap(i); }));
  if (p == 0) return LaneSum<A>(n, [=](int64_t i) { return gap(i) != A(0) ? A(1) : A(0); });
  if (std::isinf(p)) return LaneMax<A>(n, gap);
  A total = A(0);
  for (int64_t i = 0; i < n; ++i) total += std::pow(gap(i), static_cast<A>(p));
  return std::pow(total, static_cast<A>(1 / p));
}

/// out += the gradient of the distance `y` of a and b, for a.
template <typename T>
void AddSlope(Accumulator<T>* DRAGON_RESTRICT out, const T* DRAGON_RESTRICT a, const T* DRAGON_RESTRICT b, int64_t n,
              Accumulator<T> dy, Accumulator<T> y, double p) {
  using A = Accumulator<T>;
  if (p == 0 || (y == A(0) && p != 1)) return;  // at distance 0 there is no direction
  const A factor = dy / y;
  for (int64_t i = 0; i < n; ++i) {
    const A d = static_cast<A>(a[i]) - static_cast<A>(b[i]), size = std::abs(d);
    const A sign = d > A(0) ? A(1) : d < A(0) ? A(-1) : A(0);
    if (p == 1) {
      out[i] += dy * sign;
    } else if (p == 2) {
      out[i] += factor * d;
    } else if (std::isinf(p)) {
      out[i] += size == y ? dy * sign : A(0);
    } else if (size != A(0)) {
      out[i] += dy * sign * std::pow(size / y, static_cast<A>(p - 1));
    }
  }
}

}  // namespace

template <typename T>
void Cdist(Context& ctx, View y, View x1, View x2, double p) {
  const int64_t n = x1.shape[1], m = x2.shape[1], size = x1.shape[2];
  const T *a = x1.as<const T>(), *b = x2.as<const T>();
  T* out = y.as<T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, m * size));
  ParallelFor(x1.shape[0] * n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t j = 0; j < m; ++j) {
        out[row * m + j] = static_cast<T>(Distance(a + row * size, b + (row / n * m + j) * size, size, p));
      }
    }
  });
}
DRAGON_KERNEL(Cdist, Floating);

template <typename T>
void CdistBackward(Context& ctx, View dx1, View dy, View x1, View x2, View y, double p) {
  using A = Accumulator<T>;
  const int64_t n = x1.shape[1], m = x2.shape[1], size = x1.shape[2];
  const T *a = x1.as<const T>(), *b = x2.as<const T>(), *slope = dy.as<const T>(), *distance = y.as<const T>();
  T* out = dx1.as<T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, m * size));
  ParallelFor(x1.shape[0] * n, grain, [&](int64_t begin, int64_t end) {
    Scratch scratch = ctx.Allocate<A>(size);
    A* sum = scratch.template as<A>();
    for (int64_t row = begin; row < end; ++row) {
      std::fill(sum, sum + size, A(0));
      for (int64_t j = 0; j < m; ++j) {
        AddSlope(sum, a + row * size, b + (row / n * m + j) * size, size, static_cast<A>(slope[row * m + j]),
                 static_cast<A>(distance[row * m + j]), p);
      }
      for (int64_t i = 0; i < size; ++i) out[row * size + i] = static_cast<T>(sum[i]);
    }
  });
}
DRAGON_KERNEL(CdistBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
