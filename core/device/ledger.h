// The books of one device's memory: what is in use, what is reserved, and the peaks of both.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/device/allocator.h"

namespace dragon {

/// Raise `peak` to `value` if it is lower.
inline void RaisePeak(std::atomic<int64_t>& peak, int64_t value) {
  int64_t old = peak.load(std::memory_order_relaxed);
  while (old < value && !peak.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

/// Change a counter that only one thread writes.
inline void Count(std::atomic<int64_t>& counter, int64_t delta) {
  counter.store(counter.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
}

class Ledger {
 public:
  std::atomic<int64_t> current{0}, peak{0}, reserved{0}, peak_reserved{0};
  std::atomic<int64_t> limit{INT64_MAX};
  std::atomic<int64_t> large{0}, allocations{0}, frees{0}, system_calls{0};

  /// Book `delta` bytes whose running sum once stood at `highest` above the start.
  void Use(int64_t delta, int64_t highest) {
    const int64_t before = current.fetch_add(delta, std::memory_order_relaxed);
    RaisePeak(peak, before + highest);
  }
  /// Book `bytes` from the system, or refuse because of the limit.
  bool Reserve(int64_t bytes) {
    int64_t before = reserved.load(std::memory_order_relaxed);
    do {
      if (bytes > limit.load(std::memory_order_relaxed) - before) return false;
    } while (!reserved.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    RaisePeak(peak_reserved, before + bytes);
    system_calls.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  void Release(int64_t bytes) { reserved.fetch_sub(bytes, std::memory_order_relaxed); }

  /// All of it, and how much of what is reserved is `cached`.
  MemoryStats Stats(int64_t cached) const {
    MemoryStats stats;
    stats.current = current.load(std::memory_order_relaxed);
    stats.peak = peak.load(std::memory_order_relaxed);
    stats.reserved = reserved.load(std::memory_order_relaxed);
    stats.peak_reserved = peak_reserved.load(std::memory_order_relaxed);
    stats.cached = cached;
    stats.limit = limit.load(std::memory_order_relaxed);
    stats.large = large.load(std::memory_order_relaxed);
    stats.small = stats.current - stats.large;
    stats.allocations = allocations.load(std::memory_order_relaxed);
    stats.frees = frees.load(std::memory_order_relaxed);
    stats.system_calls = system_calls.load(std::memory_order_relaxed);
    return stats;
  }
  /// The peaks are measured from here on.
  void ResetPeak() {
    peak.store(current.load(std::memory_order_relaxed), std::memory_order_relaxed);
    peak_reserved.store(reserved.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
};

/// A number of bytes for people: "1.50 GiB".
std::string SizeText(int64_t bytes);

/// The error of an exhausted device: what was asked for, what is in use, what is cached, and the limit.
[[noreturn]] void ThrowOutOfMemory(Device device, size_t bytes, const MemoryStats& stats);

}  // namespace dragon
