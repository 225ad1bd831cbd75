// What the debugging allocators share: books, patterns, and the end of a process whose memory is broken.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "core/device/host_cache.h"

namespace dragon {

// Repeated, both words are NaNs in every floating dtype (signalling in float64) and no plausible index or size in any
// integer one; that they differ tells "never written" from "already freed" in a debugger.
inline constexpr uint16_t kFreshPoison = 0x7FF4;
inline constexpr uint16_t kFreedPoison = 0x7FF6;
inline constexpr uint8_t kGuard = 0xCB;
/// What every allocator promises blocks to be aligned to.
inline constexpr size_t kBlockAlignment = 64;

inline void FillWords(void* data, size_t bytes, uint16_t word) {
  auto* const to = static_cast<uint16_t*>(data);
  std::fill_n(to, bytes / 2, word);
  if (bytes % 2) static_cast<uint8_t*>(data)[bytes - 1] = static_cast<uint8_t>(word);
}

inline bool HoldsWords(const void* data, size_t bytes, uint16_t word) {
  const auto* const from = static_cast<const uint16_t*>(data);
  if (bytes % 2 && static_cast<const uint8_t*>(data)[bytes - 1] != static_cast<uint8_t>(word)) return false;
  return std::all_of(from, from + bytes / 2, [word](uint16_t found) { return found == word; });
}

inline bool IsGuard(const uint8_t* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](uint8_t found) { return found == kGuard; });
}

/// Subclasses say where blocks come from, and how long freed ones wait.
class CheckedAllocator : public Allocator {
 public:
  explicit CheckedAllocator(const char* name) : name_(name) { ledger_.limit.store(MachineMemory()); }

  MemoryStats Stats() const override {
    size_t waiting = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      waiting = waiting_;
    }
    MemoryStats stats = ledger_.Stats(static_cast<int64_t>(waiting));
    stats.shared = SharedBytesMapped();
    return stats;
  }

  void ResetPeak() override { ledger_.ResetPeak(); }
  void SetLimit(int64_t bytes) override { ledger_.limit.store(bytes); }

  /// Around fork.
  void LockAll() { mutex_.lock(); }
  void UnlockAll() { mutex_.unlock(); }

 protected:
  void BookAllocation(size_t bytes) {
    Book(static_cast<int64_t>(bytes));
    ledger_.allocations.fetch_add(1, std::memory_order_relaxed);
  }
  void BookFree(size_t bytes) {
    Book(-static_cast<int64_t>(bytes));
    ledger_.frees.fetch_add(1, std::memory_order_relaxed);
  }

  /// Memory is broken: nothing after this point can be trusted, so the process ends here.
  [[noreturn]] void Die(const char* what, const void* block, size_t bytes) const {
    std::fprintf(stderr, "dragon, %s allocator: %s (block %p of %zu bytes)\n", name_, what, block, bytes);
    std::abort();
  }

  Ledger ledger_;
  mutable std::mutex mutex_;  ///< guards what follows, and the freed blocks that wait
  size_t waiting_ = 0;        ///< bytes of those

 private:
  void Book(int64_t delta) {
    ledger_.Use(delta, std::max<int64_t>(delta, 0));
    if (static_cast<size_t>(std::abs(delta)) > kSmallBytes) ledger_.large.fetch_add(delta, std::memory_order_relaxed);
  }

  const char* name_;
};

}  // namespace dragon
