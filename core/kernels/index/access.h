// What indexing kernels share: elements as plain words of their size, and indices that are checked before they are
// used.
#pragma once

#include <cstring>

#include "core/base/outside.h"
#include "core/base/types.h"
#include "core/kernels/index.h"
#include "core/kernels/index/walk.h"
#include "core/kernels/view.h"

namespace dragon::kernels {

struct alignas(16) Word128 {
  uint64_t low, high;
};

/// A type of T's size for code that only moves elements: five instantiations serve all dtypes.
template <typename T>
using Word =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t,
                                                             std::conditional_t<sizeof(T) == 8, uint64_t, Word128>>>>;

/// Turns an index along one axis into an offset in elements.
struct AxisIndex {
  int64_t size, stride;
  int axis;
  Indexing how;

  int64_t operator()(int64_t index) const {
    const int64_t wrapped = index < 0 && how.from_end ? index + size : index;
    if (DRAGON_UNLIKELY(static_cast<uint64_t>(wrapped) >= static_cast<uint64_t>(size))) {
      ThrowOutside(how.op, how.from_end, index, axis, size);
    }
    return wrapped * stride;
  }
};

/// An index that was resolved to an offset before.
struct ReadyOffset {
  int64_t operator()(int64_t offset) const { return offset; }
};

template <typename W>
void CopyLine(W* DRAGON_RESTRICT y, int64_t y_step, const W* DRAGON_RESTRICT x, int64_t x_step, int64_t count) {
  if (y_step == 1 && x_step == 1) {
    if (count * sizeof(W) > 64) {
      std::memcpy(y, x, count * sizeof(W));
    } else {
      for (int64_t i = 0; i < count; ++i) y[i] = x[i];
    }
  } else if (y_step == 1 && x_step == -1) {  // a constant step can be vectorised
    const W* last = x - (count - 1);
    int64_t i = 0;
    if constexpr (sizeof(W) == 1) {  // the oldest processors turn no bytes round in a vector, but eight in a number
      for (uint64_t bytes; i + 8 <= count; i += 8) {
        std::memcpy(&bytes, last + (count - 8 - i), 8);
        bytes = __builtin_bswap64(bytes);
        std::memcpy(y + i, &bytes, 8);
      }
    }
#pragma omp simd
    for (int64_t k = i; k < count; ++k) y[k] = last[count - 1 - k];
  } else if (y_step == 1 && x_step == 0) {  // a number repeated
    const W fill = *x;
    for (int64_t i = 0; i < count; ++i) y[i] = fill;
  } else {
    for (int64_t i = 0; i < count; ++i) y[i * y_step] = x[i * x_step];
  }
}

}  // namespace dragon::kernels
