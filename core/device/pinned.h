// Pinned memory: the host's bytes that a device reads and writes by itself, kept for later and given out again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/macros.h"

namespace dragon {

/// Memory that CUDA devices reach, aligned to 64 bytes; a MemoryError when there is none.
DRAGON_API void* AllocatePinned(size_t bytes);
/// Give it back. It is given out again only when the streams that it was used on have come past this point.
DRAGON_API void FreePinned(void* pointer);
/// Whether bytes lie in a block that AllocatePinned gave out.
DRAGON_API bool IsPinned(const void* pointer, size_t bytes);
/// A stream of a CUDA device uses the block in which an address lies.
DRAGON_API void UsePinned(const void* pointer, int index, void* stream);
/// Give cached blocks back to the system.
DRAGON_API void EmptyPinnedCache();

struct PinnedStats {
  int64_t current = 0, peak = 0, reserved = 0, allocations = 0;
};
DRAGON_API PinnedStats StatsOfPinned();

}  // namespace dragon
