// Softmax and its logarithm: row by row where the axis is the last one, in tiles of columns where it is not.
#include "core/device/parallel.h"
#include "core/kernels/lanes.h"
#include "core/kernels/normalization.h"

namespace dragon::DRAGON_DEVICE {

namespace {

inline constexpr int64_t kMaxWidth = 1024;  // columns of a tile
inline constexpr int64_t kBlockRows = 32;   // rows of a tile that share one running maximum
inline constexpr int64_t kLevelTwo = 1 << 19;

/// x seen as (outer, n, inner), and inner cut into tiles.
struct Geometry {
  int64_t outer = 1, n = 1, inner = 1, width = 1, tiles = 1;

  Geometry(View x, int axis, int64_t bytes_per_element) {
    for (int i = 0; i < x.ndim; ++i) (i < axis ? outer : i == axis ? n : inner) *= x.shape[i];
    if (x.numel == 0 || inner == 1) return;
    const int64_t cached = kLevelTwo / bytes_per_element / n / 16 * 16;  // columns that stay in cache from pass to pass
    const int64_t share = (inner / std::max<int64_t>(1, NumThreads() / outer) + 15) / 16 * 16;
    width = std::min<int64_t>({cached >= 64 ? cached : kMaxWidth, kMaxWidth, std::max<int64_t>(share, 64), inner});
    tiles = (inner + width - 1) / width;
  }
};

/// Exponents are taken relative to the maximum; an infinite one would make inf - inf of finite elements' -inf.
template <typename A>
DRAGON_FN A Base(A max) {
  return max == -std::numeric_limits<A>::infinity() ? A(0) : max;
}

template <typename T, bool kLog>
void SoftmaxRow(T* DRAGON_RESTRICT y, const T* DRAGON_RESTRICT x, int64_t n) {
  using A = Accumulator<T>;
  const A max = LaneMax<A>(n, [x](int64_t i) { return static_cast<A>(x[i]); });
  if constexpr (kLog) {
    const A sum = LaneSum<A>(n, [=](int64_t i) { return Exp(static_cast<A>(x[i]) - max); });
    const A log_sum = Log(sum);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(static_cast<A>(x[i]) - max - log_sum);
  } else if constexpr (kIsHalf<T>) {  // a stored 16-bit exponential would be rounded twice: compute it again
    const A scale = A(1) / LaneSum<A>(n, [=](int64_t i) { return Exp(static_cast<A>(x[i]) - max); });
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(Exp(static_cast<A>(x[i]) - max) * scale);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = Exp(x[i] - max);
    const A scale = A(1) / LaneSum<A>(n, [y](int64_t i) { return y[i]; });
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
}

/// One pass finds the maximum and the sum of exponentials of every column, block of rows by block; a second one writes.
template <typename T, bool kLog>
void SoftmaxTile(T* y, const T* x, int64_t n, int64_t stride, int64_t cols) {
  using A = Accumulator<T>;
  A max[kMaxWidth], sum[kMaxWidth], block[kMaxWidth];
  for (int64_t j = 0; j < cols; ++j) max[j] = -std::numeric_limits<A>::infinity(), sum[j] = A(0);
  for (int64_t first = 0; first < n; first += kBlockRows) {
    const int64_t last = std::min(n, first + kBlockRows);
    for (int64_t j = 0; j < cols; ++j) block[j] = max[j];
    for (int64_t i = first; i < last; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) {
        const A value = static_cast<A>(row[j]);
        block[j] = (block[j] > value || block[j] != block[j]) ? block[j] : value;
      }
    }
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      sum[j] *= Exp(max[j] - Base(block[j]));  // the first block finds no maximum but -inf, whose factor is 0
      max[j] = block[j];
      block[j] = Base(block[j]);
    }
    for (int64_t i = first; i < last; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) sum[j] += Exp(static_cast<A>(row[j]) - block[j]);
    }
  }
  for (int64_t j = 0; j < cols; ++j) sum[j] = kLog ? Log(sum[j]) : A(1) / sum[j];
  for (int64_t i = 0; i < n; ++i) {
    const T* DRAGON_RESTRICT row = x + i * stride;
    T* DRAGON_RESTRICT out = y + i * stride;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      const A value = static_cast<A>(row[j]);
      out[j] = static_cast<T>(kLog ? value - max[j] - sum[j] : Exp(value - max[j]) * sum[j]);
    }
  }
}

template <typename T, bool kLog>
void BackwardRow(T* DRAGON_RESTRICT dx, const T* DRAGON_RESTRICT dy, const T* DRAGON_RESTRICT y, int64_t n) {
  using A = Accumulator<T>;
  const A sum = LaneSum<A>(
      n, [=](int64_t i) { return kLog ? static_cast<A>(dy[i]) : static_cast<A>(dy[i]) * static_cast<A>(y[i]); });
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const A slope = static_cast<A>(dy[i]), value = static_cast<A>(y[i]);
    dx[i] = static_cast<T>(kLog ? slope - Exp(value) * sum : (slope - sum) * value);
  }
}

template <typename T, bool kLog>
void BackwardTile(T* dx, const T* dy, const T* y, int64_t n, int64_t stride, int64_t cols) {
  using A = Accumulator<T>;
  A sum[kMaxWidth];
  for (int64_t j = 0; j < cols; ++j) sum[j] = A(0);
  for (int64_t i = 0; i < n; ++i) {
    const T *DRAGON_RESTRICT slope = dy + i * stride, *DRAGON_RESTRICT value = y + i * stride;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      sum[j] += kLog ? static_cast<A>(slope[j]) : static_cast<A>(slope[j]) * static_cast<A>(value[j]);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const T *DRAGON_RESTRICT slope = dy + i * stride, *DRAGON_RESTRICT value = y + i * stride;
    T* DRAGON_RESTRICT out = dx + i * stride;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) {
      const A s = static_cast<A>(slope[j]), v = static_cast<A>(value[j]);
      out[j] = static_cast<T>(kLog ? s - Exp(v) * sum[j] : (s - sum[j]) * v);
    }
  }
}

/// Call row(offset) or tile(offset, columns) for every piece of the tensor.
template <typename Row, typename Tile>
void ForPieces(View x, int axis, int64_t bytes_per_element, Row row, Tile tile) {
  if (x.numel == 0) return;
  const Geometry g(x, axis, bytes_per_element);
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (g.n * g.width));
  ParallelFor(g.outer * g.tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      if (g.inner == 1) {
        row(task * g.n, g.n);
        continue;
      }
      const int64_t first = task % g.tiles * g.width;
      tile(task / g.tiles * g.n * g.inner + first, g.n, g.inner, std::min(g.width, g.inner - first));
    }
  });
}

template <typename T, bool kLog>
void Forward(Context&, View y, View x, int axis) {
  auto* out = y.as<T>();
  const auto* in = x.as<const T>();
  ForPieces(
      x, axis, 2 * sizeof(T), [=](int64_t at, int64_t n) { SoftmaxRow<T, kLog>(out + at, in + at, n); },
      [=](int64_t at, int64_t n, int64_t stride, int64_t cols) {
        SoftmaxTile<T, kLog>(out + at, in + at, n, stride, cols);
      });
}

template <typename T, bool kLog>
void Backward(Context&, View dx, View dy, View y, int axis) {
  auto* out = dx.as<T>();
  const auto *slope = dy.as<const T>(), *value = y.as<const T>();
  ForPieces(
      y, axis, 3 * sizeof(T), [=](int64_t at, int64_t n) { BackwardRow<T, kLog>(out + at, slope + at, value + at, n); },
      [=](int64_t at, int64_t n, int64_t stride, int64_t cols) {
        BackwardTile<T, kLog>(out + at, slope + at, value + at, n, stride, cols);
      });
}

const bool entered[] = {
    kernels::Enter(kernels::Softmax, Floating{}, []<typename T>(TypeTag<T>) { return &Forward<T, false>; }),
    kernels::Enter(kernels::LogSoftmax, Floating{}, []<typename T>(TypeTag<T>) { return &Forward<T, true>; }),
    kernels::Enter(kernels::SoftmaxBackward, Floating{}, []<typename T>(TypeTag<T>) { return &Backward<T, false>; }),
    kernels::Enter(kernels::LogSoftmaxBackward, Floating{}, []<typename T>(TypeTag<T>) { return &Backward<T, true>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
