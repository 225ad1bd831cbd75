// What every kernel over compressed rows asks first: do starts and places name what is there?
#pragma once

#include "core/device/parallel.h"
#include "core/kernels/sparse.h"

namespace dragon::DRAGON_DEVICE {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#else
inline constexpr int kVectorBytes = 32;
#endif

/// Refuses starts that do not lead through all places, and places outside of `size`.
inline void CheckRows(const char* who, const View& starts, const View& places, int64_t size) {
  const int64_t* start = starts.as<const int64_t>();
  const int64_t* place = places.as<const int64_t>();
  bool leads = start[0] == 0 && start[starts.numel - 1] == places.numel;
  for (int64_t i = 1; leads && i < starts.numel; ++i) leads = start[i - 1] <= start[i];
  if (!leads) throw ValueError(who).Got("starts that do not lead from 0 to ", places.numel).Expected("rising ones");
  bool inside = true;
  for (int64_t k = 0; k < places.numel; ++k) inside &= place[k] >= 0 && place[k] < size;
  if (inside) return;
  for (int64_t k = 0; k < places.numel; ++k) {
    if (place[k] < 0 || place[k] >= size) throw IndexError(who).Got("place ", place[k]).Expected("0 to ", size - 1);
  }
}

/// About as many additions as one row takes.
inline int64_t CostOfRow(const View& starts, const View& places, int64_t width) {
  return std::max<int64_t>(1, places.numel * width / std::max<int64_t>(starts.numel - 1, 1));
}

}  // namespace dragon::DRAGON_DEVICE
