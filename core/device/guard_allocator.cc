// DRAGON_ALLOCATOR=guard: every block ends where a page without access begins, and freed blocks have no access at all,
// so that the very instruction that reads or writes where it must not ends the process.
#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "core/device/checked_allocator.h"
#include "core/device/pages.h"

namespace dragon {

namespace {

/// A block and its dead page are two areas in the kernel's books, which hold some 65000 for a process. Blocks beyond
/// these many have patterns on both sides instead, as those of the naive allocator.
constexpr size_t kMostGuarded = 24000;
/// Freed blocks keep their addresses, not their memory: as many as these, or as much.
constexpr size_t kQuarantineBlocks = 8192;
constexpr size_t kQuarantineBytes = size_t{16} << 30;

size_t RoundUp(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

class GuardAllocator : public CheckedAllocator {
 public:
  GuardAllocator() : CheckedAllocator("guard") {}

  void* Allocate(size_t bytes) override {
    if (bytes > SizeClass::kLargest) ThrowOutOfMemory(Device{}, bytes, Stats());
    Area area = AreaFor(bytes);
    for (int attempt = 0; attempt < 2 && !area.start; ++attempt) {
      if (attempt) EmptyCache();
      Map(&area);
    }
    if (!area.start) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        guarded_ -= area.guarded;
      }
      ThrowOutOfMemory(Device{}, bytes, Stats());
    }
    uint8_t* const block = area.start + area.before;
    std::memset(area.start, kGuard, area.before);
    FillWords(block, bytes, kFreshPoison);
    std::memset(block + bytes, kGuard, area.usable - area.before - bytes);
    BookAllocation(bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    live_.emplace(block, area);
    return block;
  }

  void Free(void* pointer, size_t bytes) override {
    if (!pointer) return;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto place = live_.find(pointer);
    if (place == live_.end()) {
      Die(waits_.count(pointer) ? "a block was freed twice" : "an address that was not allocated here was freed",
          pointer, bytes);
    }
    const Area area = place->second;
    if (area.bytes != bytes) Die("a block was freed with another size than it was allocated with", pointer, bytes);
    const uint8_t* const block = area.start + area.before;
    if (!IsGuard(area.start, area.before)) Die("something wrote before a block", pointer, bytes);
    if (!IsGuard(block + bytes, area.usable - area.before - bytes)) Die("something wrote past a block", pointer, bytes);
    live_.erase(place);
    guarded_ -= area.guarded;
    // A fresh mapping in its place has no memory, and joins its neighbours in the kernel's books.
    if (mmap(area.start, area.total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
      Die("the system refused to take away the access to it", pointer, bytes);
    }
    ledger_.Release(static_cast<int64_t>(area.usable));
    BookFree(bytes);
    quarantine_.push_back(area);
    waits_.insert(pointer);
    addresses_ += area.total;
    while (quarantine_.size() > kQuarantineBlocks || addresses_ > kQuarantineBytes) DropOldest();
  }

  /// Take the access to all live blocks away, or give it back.
  void Seal(bool sealed) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [block, area] : live_) {
      if (mprotect(area.start, area.usable, sealed ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) {
        Die("the system refused to change the access to it", block, area.bytes);
      }
    }
  }

  void EmptyCache() override {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!quarantine_.empty()) DropOldest();
  }

 private:
  struct Area {
    uint8_t* start;
    size_t bytes;   // of the block
    size_t before;  // pattern before the block
    size_t usable;  // pattern, block, and the few bytes of pattern that its alignment leaves behind it
    size_t total;   // these and the dead page
    bool guarded;
  };

  Area AreaFor(size_t bytes) {
    Area area{nullptr, bytes, 0, 0, 0, false};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      area.guarded = guarded_ < kMostGuarded;
      guarded_ += area.guarded;
    }
    const size_t rounded = RoundUp(bytes + (area.guarded ? 0 : kBlockAlignment), kBlockAlignment);
    area.usable = RoundUp(rounded + kBlockAlignment, PageBytes());
    area.before = area.usable - rounded;
    area.total = area.usable + (area.guarded ? PageBytes() : 0);
    return area;
  }

  void Map(Area* area) {
    if (!ledger_.Reserve(static_cast<int64_t>(area->usable))) return;
    void* const mapped = mmap(nullptr, area->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) {
      auto* const start = static_cast<uint8_t*>(mapped);
      if (!area->guarded || mprotect(start + area->usable, PageBytes(), PROT_NONE) == 0) {
        area->start = start;
        return;
      }
      munmap(mapped, area->total);
    }
    ledger_.Release(static_cast<int64_t>(area->usable));
  }

  void DropOldest() {
    const Area area = quarantine_.front();
    quarantine_.pop_front();
    waits_.erase(area.start + area.before);
    addresses_ -= area.total;
    munmap(area.start, area.total);
  }

  std::unordered_map<void*, Area> live_;
  std::unordered_set<void*> waits_;
  std::deque<Area> quarantine_;
  size_t guarded_ = 0, addresses_ = 0;
};

}  // namespace

Allocator& TheGuardAllocator() { return TheOnly<GuardAllocator>(); }
void SealGuarded(bool sealed) { TheOnly<GuardAllocator>().Seal(sealed); }

}  // namespace dragon
