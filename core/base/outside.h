// The words for an index that lies outside of its axis: a loop on the CPU says them at once, a GPU's when it is asked.
#pragma once

#include "core/base/error.h"

namespace dragon {

/// `from_end` tells whether negative indices would have counted from the end.
[[noreturn]] inline void ThrowOutside(const char* who, bool from_end, int64_t index, int axis, int64_t size) {
  if (size == 0) {
    throw IndexError(who).Got("index ", index, " for axis ", axis).Expected("no index, as that axis has size 0");
  }
  throw IndexError(who)
      .Got("index ", index, " for axis ", axis)
      .Expected(from_end ? -size : 0, " to ", size - 1, " as it has size ", size);
}

}  // namespace dragon
