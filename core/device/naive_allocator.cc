// DRAGON_ALLOCATOR=naive: every block guarded on both sides, poisoned before and after use, and never reused at once.
#include <cstring>
#include <deque>
#include <new>

#include "core/device/checked_allocator.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) static_cast<void>(0)
#endif

namespace dragon {

namespace {

constexpr size_t kGuardBytes = kBlockAlignment;
constexpr uint64_t kLive = 0x6472616761646C69, kDead = 0x6472616761646561;

/// Freed blocks wait here, so that writing to one is noticed.
constexpr size_t kWaitingBlocks = 256;
constexpr size_t kWaitingBytes = 64 << 20;

/// Stands in the last 64 bytes before the block; the guard fills the rest of them.
struct Header {
  uint64_t mark;
  uint64_t bytes;
  uint8_t guard[kGuardBytes - 16];
};
static_assert(sizeof(Header) == kGuardBytes);

class NaiveAllocator : public CheckedAllocator {
 public:
  NaiveAllocator() : CheckedAllocator("naive") {}

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
    FillWords(block, bytes, kFreshPoison);
    std::memset(static_cast<uint8_t*>(block) + bytes, kGuard, Total(bytes) - kGuardBytes - bytes);
    ASAN_POISON_MEMORY_REGION(static_cast<uint8_t*>(block) + bytes, Total(bytes) - kGuardBytes - bytes);
    ASAN_POISON_MEMORY_REGION(header, kGuardBytes);
    BookAllocation(bytes);
    return block;
  }

  void Free(void* pointer, size_t bytes) override {
    if (!pointer) return;
    Header* const header = static_cast<Header*>(pointer) - 1;
    ASAN_UNPOISON_MEMORY_REGION(header, kGuardBytes);
    if (header->mark == kDead) Die("a block was freed twice", pointer, bytes);
    if (header->mark != kLive) Die("an address that was not allocated here was freed", pointer, bytes);
    if (header->bytes != bytes) Die("a block was freed with another size than it was allocated with", pointer, bytes);
    ASAN_UNPOISON_MEMORY_REGION(header, Total(bytes));
    const auto* const end = static_cast<uint8_t*>(pointer) + bytes;
    if (!IsGuard(header->guard, sizeof(header->guard))) Die("something wrote before a block", pointer, bytes);
    if (!IsGuard(end, Total(bytes) - kGuardBytes - bytes)) Die("something wrote past a block", pointer, bytes);
    header->mark = kDead;
    FillWords(pointer, bytes, kFreedPoison);
    ASAN_POISON_MEMORY_REGION(pointer, Total(bytes) - kGuardBytes);
    BookFree(bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    quarantine_.push_back(header);
    waiting_ += Total(bytes);
    while (quarantine_.size() > kWaitingBlocks || waiting_ > kWaitingBytes) DropOldest();
  }

  void EmptyCache() override {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!quarantine_.empty()) DropOldest();
  }

 private:
  /// Header, block, and a guard of 64 to 127 bytes that ends on a multiple of 64.
  static size_t Total(size_t bytes) { return kGuardBytes + (bytes + 2 * kGuardBytes - 1) / kGuardBytes * kGuardBytes; }

  void DropOldest() {
    Header* const header = quarantine_.front();
    quarantine_.pop_front();
    const size_t bytes = header->bytes;
    ASAN_UNPOISON_MEMORY_REGION(header, Total(bytes));
    if (!HoldsWords(header + 1, bytes, kFreedPoison))
      Die("something wrote to a block after it was freed", header + 1, bytes);
    waiting_ -= Total(bytes);
    ledger_.Release(static_cast<int64_t>(Total(bytes)));
    header->mark = 0;
    std::free(header);
  }

  std::deque<Header*> quarantine_;
};

}  // namespace

Allocator& TheNaiveAllocator() { return TheOnly<NaiveAllocator>(); }

}  // namespace dragon
