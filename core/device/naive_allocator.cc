// DRAGON_ALLOCATOR=naive: every block guarded on both sides, poisoned before and after use, and never reused at once.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>

#include "core/device/host_cache.h"

namespace dragon {

namespace {

// Repeated, both words are NaNs in every floating dtype (signalling in float64) and no plausible index or size in any
// integer one; that they differ tells "never written" from "already freed" in a debugger.
constexpr uint16_t kFreshPoison = 0x7FF4;
constexpr uint16_t kFreedPoison = 0x7FF6;
constexpr uint8_t kGuard = 0xCB;
constexpr size_t kGuardBytes = 64;
constexpr uint64_t kLive = 0x6472616761646C69, kDead = 0x6472616761646561;

/// Freed blocks wait here, so that writing to one is noticed.
constexpr size_t kQuarantineBlocks = 256;
constexpr size_t kQuarantineBytes = 64 << 20;

/// Stands in the last 64 bytes before the block; the guard fills the rest of them.
struct Header {
  uint64_t mark;
  uint64_t bytes;
  uint8_t guard[kGuardBytes - 16];
};
static_assert(sizeof(Header) == kGuardBytes);

void Fill(void* data, size_t bytes, uint16_t word) {
  auto* const to = static_cast<uint16_t*>(data);
  std::fill_n(to, bytes / 2, word);
  if (bytes % 2) static_cast<uint8_t*>(data)[bytes - 1] = static_cast<uint8_t>(word);
}

bool Holds(const void* data, size_t bytes, uint16_t word) {
  const auto* const from = static_cast<const uint16_t*>(data);
  if (bytes % 2 && static_cast<const uint8_t*>(data)[bytes - 1] != static_cast<uint8_t>(word)) return false;
  return std::all_of(from, from + bytes / 2, [word](uint16_t found) { return found == word; });
}

bool IsGuard(const uint8_t* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != kGuard) return false;
  }
  return true;
}

/// Memory is broken: nothing after this point can be trusted, so the process ends here.
[[noreturn]] void Die(const char* what, const void* block, size_t bytes) {
  std::fprintf(stderr, "dragon, naive allocator: %s (block %p of %zu bytes)\n", what, block, bytes);
  std::abort();
}

class NaiveAllocator : public Allocator {
 public:
  NaiveAllocator() { ledger_.limit.store(MachineMemory()); }

  void* Allocate(size_t bytes) override {
    const auto total = static_cast<int64_t>(Total(bytes));
    void* raw = nullptr;
    if (bytes <= SizeClass::kLargest) {
      for (int attempt = 0; attempt < 2 && !raw; ++attempt) {
        if (attempt) EmptyCache();
        if (!ledger_.Reserve(total)) continue;
        if (!(raw = std::aligned_alloc(kGuardBytes, total))) ledger_.Release(total);
      }
    }
    if (!raw) ThrowOutOfMemory(Device{}, bytes, Stats());
    auto* const header = static_cast<Header*>(raw);
    header->mark = kLive;
    header->bytes = bytes;
    std::memset(header->guard, kGuard, sizeof(header->guard));
    void* const block = header + 1;
    Fill(block, bytes, kFreshPoison);
    std::memset(static_cast<uint8_t*>(block) + bytes, kGuard, Total(bytes) - kGuardBytes - bytes);
    Book(static_cast<int64_t>(bytes));
    ledger_.allocations.fetch_add(1, std::memory_order_relaxed);
    return block;
  }

  void Free(void* pointer, size_t bytes) override {
    if (!pointer) return;
    Header* const header = static_cast<Header*>(pointer) - 1;
    if (header->mark == kDead) Die("a block was freed twice", pointer, bytes);
    if (header->mark != kLive) Die("an address that was not allocated here was freed", pointer, bytes);
    if (header->bytes != bytes) Die("a block was freed with another size than it was allocated with", pointer, bytes);
    const auto* const end = static_cast<uint8_t*>(pointer) + bytes;
    if (!IsGuard(header->guard, sizeof(header->guard))) Die("something wrote before a block", pointer, bytes);
    if (!IsGuard(end, Total(bytes) - kGuardBytes - bytes)) Die("something wrote past a block", pointer, bytes);
    header->mark = kDead;
    Fill(pointer, bytes, kFreedPoison);
    Book(-static_cast<int64_t>(bytes));
    ledger_.frees.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(mutex_);
    quarantine_.push_back(header);
    waiting_ += Total(bytes);
    while (quarantine_.size() > kQuarantineBlocks || waiting_ > kQuarantineBytes) DropOldest();
  }

  MemoryStats Stats() const override {
    MemoryStats stats;
    stats.current = ledger_.current.load();
    stats.peak = ledger_.peak.load();
    stats.reserved = ledger_.reserved.load();
    stats.peak_reserved = ledger_.peak_reserved.load();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stats.cached = static_cast<int64_t>(waiting_);
    }
    stats.limit = ledger_.limit.load();
    stats.large = ledger_.large.load();
    stats.small = stats.current - stats.large;
    stats.shared = SharedBytesMapped();
    stats.allocations = ledger_.allocations.load();
    stats.frees = ledger_.frees.load();
    stats.system_calls = ledger_.system_calls.load();
    return stats;
  }

  void ResetPeak() override {
    ledger_.peak.store(ledger_.current.load());
    ledger_.peak_reserved.store(ledger_.reserved.load());
  }
  void SetLimit(int64_t bytes) override { ledger_.limit.store(bytes); }
  void EmptyCache() override {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!quarantine_.empty()) DropOldest();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  /// Header, block, and a guard of 64 to 127 bytes that ends on a multiple of 64.
  static size_t Total(size_t bytes) { return kGuardBytes + (bytes + 2 * kGuardBytes - 1) / kGuardBytes * kGuardBytes; }

  void Book(int64_t delta) {
    ledger_.Use(delta, std::max<int64_t>(delta, 0));
    if (static_cast<size_t>(std::abs(delta)) > kSmallBytes) ledger_.large.fetch_add(delta, std::memory_order_relaxed);
  }

  void DropOldest() {
    Header* const header = quarantine_.front();
    quarantine_.pop_front();
    const size_t bytes = header->bytes;
    if (!Holds(header + 1, bytes, kFreedPoison))
      Die("something wrote to a block after it was freed", header + 1, bytes);
    waiting_ -= Total(bytes);
    ledger_.Release(static_cast<int64_t>(Total(bytes)));
    header->mark = 0;
    std::free(header);
  }

  Ledger ledger_;
  mutable std::mutex mutex_;
  std::deque<Header*> quarantine_;
  size_t waiting_ = 0;
};

NaiveAllocator* g_naive = nullptr;

}  // namespace

Allocator& TheNaiveAllocator() {
  static NaiveAllocator* allocator = [] {
    g_naive = new NaiveAllocator;
    pthread_atfork([] { g_naive->mutex().lock(); }, [] { g_naive->mutex().unlock(); },
                   [] { g_naive->mutex().unlock(); });
    return g_naive;
  }();
  return *allocator;
}

}  // namespace dragon
