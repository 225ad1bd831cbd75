// Memory of every device comes from here: cached, counted, limited, and checked when debugging.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/macros.h"
#include "core/device/device.h"

namespace dragon {

/// What an allocator has handed out and what it keeps. All in bytes unless said otherwise.
struct MemoryStats {
  int64_t current = 0;        ///< asked for and not yet freed
  int64_t peak = 0;           ///< the most `current` has been since the last ResetPeak
  int64_t reserved = 0;       ///< taken from the system: in use, rounding and cache
  int64_t peak_reserved = 0;  ///< the most `reserved` has been since the last ResetPeak
  int64_t cached = 0;         ///< big free blocks kept for reuse; EmptyCache gives them back
  int64_t limit = 0;          ///< what `reserved` may reach
  int64_t small = 0;          ///< the part of `current` in blocks of at most 32 KiB
  int64_t large = 0;          ///< the part of `current` in bigger blocks
  int64_t shared = 0;         ///< shared-memory blocks mapped now; not part of `current`
  int64_t allocations = 0;    ///< how many blocks were ever asked for
  int64_t frees = 0;          ///< how many came back
  int64_t system_calls = 0;   ///< how often the system (or the device's driver) was asked for memory
};

/// Hands out uninitialised memory aligned to 64 bytes. All functions may be called from any thread.
class DRAGON_API Allocator {
 public:
  virtual ~Allocator() = default;
  /// Memory for `bytes` (0 gets a valid address too); a MemoryError when there is none.
  virtual void* Allocate(size_t bytes) = 0;
  /// Give back what Allocate(bytes) returned; from any thread. nullptr is ignored.
  virtual void Free(void* pointer, size_t bytes) = 0;
  virtual MemoryStats Stats() const = 0;
  virtual void ResetPeak() = 0;
  /// The most that may be reserved; memory already in use stays valid.
  virtual void SetLimit(int64_t bytes) = 0;
  /// Return to the system all memory that holds nothing.
  virtual void EmptyCache() = 0;
};

/// Whether DRAGON_ALLOCATOR asks for one that finds faults.
bool AllocatorIsDebugging();
/// The host's allocator; the inlined way round its virtual functions is AllocateHost and FreeHost.
DRAGON_API Allocator& HostAllocator();
/// The caching allocator over a device's backend (HostAllocator for the CPU).
DRAGON_API Allocator& DeviceAllocator(Device device);

DRAGON_API void* AllocateHost(size_t bytes);
DRAGON_API void FreeHost(void* pointer, size_t bytes);

DRAGON_API MemoryStats MemoryStatsOf(Device device);
DRAGON_API void ResetPeak(Device device);
/// Limit what may be reserved on a device; a negative limit is a ValueError.
DRAGON_API void SetMemoryLimit(Device device, int64_t bytes);
DRAGON_API void EmptyCache(Device device);

/// A block size every allocator rounds to: multiples of 64 to 512, then eight sizes per power of two (waste <= 12.5 %).
struct SizeClass {
  static constexpr size_t kLargest = size_t{1} << 46;
  static constexpr int kCount = 8 + 8 * (46 - 9);

  static int Of(size_t bytes) {
    const size_t last = bytes - (bytes != 0);
    if (last < 512) return static_cast<int>(last >> 6);
    const int log = 63 - __builtin_clzll(last);
    return 8 * (log - 9) + static_cast<int>(last >> (log - 3));
  }
  static constexpr size_t Bytes(int index) {
    if (index < 8) return static_cast<size_t>(index + 1) << 6;
    return static_cast<size_t>(index % 8 + 9) << (index / 8 - 1 + 6);
  }
};

}  // namespace dragon
