// The largest or least of the numbers of each row, each times a row of a dense matrix.
#include <limits>
#include <type_traits>

#include "core/kernels/sparse/form.h"

namespace dragon::DRAGON_DEVICE {
namespace {

/// Columns that are looked at together: what was found stays in registers.
constexpr int64_t kColumns = 64;

template <typename W>
bool IsNoNumber(W value) {
  if constexpr (std::is_floating_point_v<W>) return value != value;
  return false;
}

/// Some columns of one row. The first of equal numbers stays, and so does a NaN.
template <bool least, typename T>
void FindColumns(T* y, int64_t* which, const int64_t* place, const T* value, int64_t first, int64_t count,
                 const T* dense, int64_t width, int64_t columns) {
  using W = Wide<T>;
  W best[kColumns];
  int32_t from[kColumns];
  const T* row = dense + place[0] * width;
  for (int64_t j = 0; j < columns; ++j) {
    best[j] = static_cast<W>(static_cast<T>(static_cast<W>(value[0]) * static_cast<W>(row[j])));
    from[j] = 0;
  }
  for (int64_t k = 1; k < count; ++k) {
    const W factor = static_cast<W>(value[k]);
    row = dense + place[k] * width;
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const W product = static_cast<W>(static_cast<T>(factor * static_cast<W>(row[j])));
      const bool beats = (least ? product < best[j] : product > best[j]) | (IsNoNumber(product) & !IsNoNumber(best[j]));
      best[j] = beats ? product : best[j];
      from[j] = beats ? static_cast<int32_t>(k) : from[j];
    }
  }
  for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(best[j]), which[j] = first + from[j];
}

/// As many columns of float or double as fit a few vectors, compared at once: the compiler makes branches of the above.
template <bool least, typename T>
void FindVectors(T* y, int64_t* which, const int64_t* place, const T* value, int64_t first, int64_t count,
                 const T* dense, int64_t width) {
  using Number = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int kLanes = kVectorBytes / sizeof(T), kVectors = kColumns / kLanes;
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(T))));
  typedef Number Numbers __attribute__((vector_size(kVectorBytes)));
  for (int v = 0; v < kVectors; ++v) {
    Vector best = *reinterpret_cast<const Vector*>(dense + place[0] * width + v * kLanes) * value[0];
    Numbers from{};
    for (int64_t k = 1; k < count; ++k) {
      const Vector product = *reinterpret_cast<const Vector*>(dense + place[k] * width + v * kLanes) * value[k];
      const Numbers beats = (least ? product < best : product > best) | ((product != product) & (best == best));
      best = beats ? product : best;
      from = beats ? Numbers{} + static_cast<Number>(k) : from;
    }
    *reinterpret_cast<Vector*>(y + v * kLanes) = best;
    for (int l = 0; l < kLanes; ++l) which[v * kLanes + l] = first + from[l];
  }
}

/// All columns of one row.
template <bool least, typename T>
void FindRow(T* y, int64_t* which, const int64_t* place, const T* value, int64_t first, int64_t count, const T* dense,
             int64_t width) {
  int64_t j = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (; j + kColumns <= width; j += kColumns) {
      FindVectors<least>(y + j, which + j, place, value, first, count, dense + j, width);
    }
  }
  for (; j < width; j += kColumns) {
    FindColumns<least>(y + j, which + j, place, value, first, count, dense + j, width, std::min(kColumns, width - j));
  }
}

}  // namespace

template <typename T>
void RowsExtreme(Context&, View y, View which, View starts, View places, View values, View dense, bool least) {
  CheckRows("rows_extreme", starts, places, dense.shape[0]);
  if (places.numel > std::numeric_limits<int32_t>::max()) {
    throw ValueError("rows_extreme").Got(places.numel, " numbers").Expected("fewer than 2**31");
  }
  using W = Wide<T>;
  const int64_t width = dense.shape[1];
  const int64_t *start = starts.as<const int64_t>(), *place = places.as<const int64_t>();
  const T *value = values.as<const T>(), *rows = dense.as<const T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / CostOfRow(starts, places, width));
  ParallelFor(starts.numel - 1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* best = y.as<T>() + i * width;
      int64_t* from = which.as<int64_t>() + i * width;
      const int64_t first = start[i], count = start[i + 1] - first;
      if (count == 0) {
        std::fill_n(best, width, T(0));
        std::fill_n(from, width, int64_t{-1});
      } else if (least) {
        FindRow<true>(best, from, place + first, value + first, first, count, rows, width);
      } else {
        FindRow<false>(best, from, place + first, value + first, first, count, rows, width);
      }
    }
  });
}
DRAGON_KERNEL(RowsExtreme, Real);

}  // namespace dragon::DRAGON_DEVICE
