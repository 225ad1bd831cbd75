// Matrices in compressed rows by dense ones. Each row is one thread's, so sums have one order whatever the threads.
#include "core/kernels/sparse/form.h"

namespace dragon::DRAGON_DEVICE {
namespace {

/// Columns that a row's sums are kept for at a time: they stay in registers.
constexpr int64_t kColumns = 64;

/// Any columns of any dtype.
template <typename T>
void SumColumns(T* DRAGON_RESTRICT y, const int64_t* place, const T* value, int64_t count, const T* dense,
                int64_t width, int64_t columns) {
  using W = Wide<T>;
  W sums[kColumns];
  for (int64_t j = 0; j < columns; ++j) sums[j] = W(0);
  for (int64_t k = 0; k < count; ++k) {
    const W factor = static_cast<W>(value[k]);
    const T* row = dense + place[k] * width;
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) sums[j] += factor * static_cast<W>(row[j]);
  }
  for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(sums[j]);
}

/// kColumns columns of float or double, in vectors that the compiler would otherwise keep in memory.
template <typename T>
void SumVectors(T* DRAGON_RESTRICT y, const int64_t* place, const T* value, int64_t count, const T* dense,
                int64_t width) {
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(T))));
  constexpr int kVectors = 8, kLanes = kVectorBytes / sizeof(T);
  constexpr int64_t kAhead = 8;  // numbers whose rows are fetched meanwhile
  for (int64_t j = 0; j < kColumns; j += kVectors * kLanes) {
    constexpr int kUsed = kColumns < kVectors * kLanes ? kColumns / kLanes : kVectors;
    Vector sums[kUsed] = {};
    for (int64_t k = 0; k < count; ++k) {
      const Vector* row = reinterpret_cast<const Vector*>(dense + place[k] * width + j);
      const T* later = dense + place[k + kAhead < count ? k + kAhead : count - 1] * width + j;
      const T factor = value[k];
#pragma GCC unroll 8
      for (int i = 0; i < kUsed; ++i) {
        __builtin_prefetch(later + i * kLanes);
        sums[i] += factor * row[i];
      }
    }
    for (int i = 0; i < kUsed; ++i) reinterpret_cast<Vector*>(y + j)[i] = sums[i];
  }
}

/// One row of a product.
template <typename T>
void SumRow(T* y, const int64_t* place, const T* value, int64_t count, const T* dense, int64_t width) {
  int64_t j = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (; j + kColumns <= width; j += kColumns) SumVectors(y + j, place, value, count, dense + j, width);
  }
  for (; j < width; j += kColumns) {
    SumColumns(y + j, place, value, count, dense + j, width, std::min(kColumns, width - j));
  }
}

}  // namespace

template <typename T>
void RowsMatmul(Context&, View y, View starts, View places, View values, View dense) {
  CheckRows("rows_matmul", starts, places, dense.shape[0]);
  const int64_t width = dense.shape[1];
  const int64_t *start = starts.as<const int64_t>(), *place = places.as<const int64_t>();
  const T *value = values.as<const T>(), *rows = dense.as<const T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / CostOfRow(starts, places, width));
  ParallelFor(starts.numel - 1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = start[i];
      SumRow(y.as<T>() + i * width, place + first, value + first, start[i + 1] - first, rows, width);
    }
  });
}
DRAGON_KERNEL(RowsMatmul, Numeric);

template <typename T>
void RowsDots(Context&, View y, View starts, View places, View a, View b) {
  CheckRows("rows_dots", starts, places, b.shape[0]);
  using W = Wide<T>;
  const int64_t width = b.shape[1];
  const int64_t *start = starts.as<const int64_t>(), *place = places.as<const int64_t>();
  const int64_t grain = std::max<int64_t>(1, kGrain / CostOfRow(starts, places, width));
  ParallelFor(starts.numel - 1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* left = a.as<const T>() + i * width;
      for (int64_t k = start[i]; k < start[i + 1]; ++k) {
        const T* right = b.as<const T>() + place[k] * width;
        W lanes[16];  // sums side by side, so that they become one vector
        for (W& lane : lanes) lane = W(0);
        int64_t j = 0;
        for (; j + 16 <= width; j += 16) {
#pragma omp simd
          for (int64_t l = 0; l < 16; ++l) lanes[l] += static_cast<W>(left[j + l]) * static_cast<W>(right[j + l]);
        }
        W sum = W(0);
        for (const W& lane : lanes) sum += lane;
        for (; j < width; ++j) sum += static_cast<W>(left[j]) * static_cast<W>(right[j]);
        y.as<T>()[k] = static_cast<T>(sum);
      }
    }
  });
}
DRAGON_KERNEL(RowsDots, Numeric);

template <typename T>
void TurnRows(Context& ctx, View turned_starts, View turned_places, View order, View starts, View places) {
  const int64_t columns = turned_starts.numel - 1;
  CheckRows("turn_rows", starts, places, columns);
  const int64_t *start = starts.as<const int64_t>(), *place = places.as<const int64_t>();
  int64_t* turned = turned_starts.as<int64_t>();
  std::fill_n(turned, columns + 1, 0);
  for (int64_t k = 0; k < places.numel; ++k) ++turned[place[k] + 1];
  for (int64_t j = 0; j < columns; ++j) turned[j + 1] += turned[j];
  Scratch next = ctx.Allocate<int64_t>(columns);
  std::copy_n(turned, columns, next.as<int64_t>());
  for (int64_t i = 0; i + 1 < starts.numel; ++i) {
    for (int64_t k = start[i]; k < start[i + 1]; ++k) {
      const int64_t to = next.as<int64_t>()[place[k]]++;
      turned_places.as<int64_t>()[to] = i;
      order.as<int64_t>()[to] = k;
    }
  }
}
using Places = TypeList<int64_t>;
DRAGON_KERNEL(TurnRows, DRAGON_DEVICE::Places);

}  // namespace dragon::DRAGON_DEVICE
