// The binary search of a value in a sorted line, for one thread.
#pragma once

#include "core/base/types.h"

namespace dragon::DRAGON_DEVICE {

/// Where `value` belongs in a sorted line: before its equals, or after them. NaN goes to the end. A place in `sorter`
/// that the line does not have counts as its nearest end: the CPU's kernel refuses it, but here the host does not wait.
template <typename T>
__device__ int64_t SearchLine(const T* line, const int64_t* sorter, int64_t size, T value, bool right) {
  int64_t low = 0, high = size;
  const Wide<T> wanted = static_cast<Wide<T>>(value);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    int64_t place = middle;
    if (sorter) {
      place = sorter[middle];
      place = place < 0 ? 0 : place >= size ? size - 1 : place;
    }
    const Wide<T> here = static_cast<Wide<T>>(line[place]);
    if (right ? !(here > wanted) : !(here >= wanted)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace dragon::DRAGON_DEVICE
