// First fit over extents of pages. Their books lie outside them: pages given back keep nothing.
#include "core/device/page_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "core/device/pages.h"

namespace dragon {

namespace {

constexpr size_t kHugePage = 2 << 20;
/// The first region's size; each later one is as large as all before it, so that there are few.
constexpr size_t kFirstRegion = size_t{256} << 20;
/// Below this much reserved memory nothing is given back.
constexpr int64_t kHeapFreeRein = int64_t{256} << 20;
/// How many hollow extents are looked at for one in front of them that may grow.
constexpr int kLooks = 64;

size_t RoundToUnit(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t WholePages(size_t bytes) { return std::max(PageBytes(), RoundToUnit(bytes, PageBytes())); }

/// `bytes` of addresses at a multiple of a huge page, or nullptr.
char* MapRegion(size_t bytes) {
  void* const raw =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const base = static_cast<char*>(raw);
  char* const aligned = base + (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
  if (aligned != base) munmap(base, aligned - base);
  if (const size_t tail = base + kHugePage - aligned) munmap(aligned + bytes, tail);
  // Advice: 512 times fewer faults on the first touch; a refusal changes nothing.
  madvise(aligned, bytes, MADV_HUGEPAGE);
  return aligned;
}

}  // namespace

void* PageHeap::Take(size_t bytes) {
  bytes = WholePages(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Prepare()) return nullptr;
  char* found = nullptr;
  if (Extent* const extent = resident_.First(bytes)) {
    Count(cached_, -static_cast<int64_t>(bytes));
    found = Cut(&resident_, extent, bytes);
  } else {
    found = Grow(bytes);
  }
  used_ += found != nullptr;
  return found;
}

void PageHeap::Put(void* pointer, size_t bytes) {
  bytes = WholePages(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  --used_;
  Count(cached_, static_cast<int64_t>(bytes));
  Shelve(&resident_, NewExtent(static_cast<char*>(pointer), bytes));
}

void PageHeap::Empty() {
  std::lock_guard<std::mutex> lock(mutex_);
  EmptyLocked();
}

char* PageHeap::Grow(size_t bytes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt) EmptyLocked();
    Trim(bytes);
    Extent* const front = LongestBeforeRoom(bytes);
    const size_t kept = front ? front->bytes : 0;
    const size_t fresh = bytes - kept;
    if (!ledger_->Reserve(static_cast<int64_t>(fresh))) continue;
    Extent* room = front ? hollow_.BeginningAt(front->end()) : hollow_.First(fresh);
    if (!room) room = NewRegion(fresh);
    if (!room) {
      ledger_->Release(static_cast<int64_t>(fresh));
      continue;
    }
    char* const grown = Cut(&hollow_, room, fresh);
    if (!front) return grown;
    Count(cached_, -static_cast<int64_t>(kept));
    return Cut(&resident_, front, kept);
  }
  return nullptr;
}

Extent* PageHeap::LongestBeforeRoom(size_t bytes) const {
  Extent* longest = nullptr;
  const Extent* room = hollow_.Above(nullptr);
  for (int looks = 0; room && looks < kLooks; ++looks, room = hollow_.Above(room->base)) {
    if (IsEdge(room->base)) continue;
    Extent* const front = resident_.EndingAt(room->base);
    if (!front || front->bytes + room->bytes < bytes) continue;
    if (!longest || longest->bytes < front->bytes) longest = front;
  }
  return longest;
}

char* PageHeap::Cut(ExtentTree* tree, Extent* extent, size_t bytes) {
  char* const front = extent->base;
  tree->Remove(extent);
  extent->base += bytes;
  extent->bytes -= bytes;
  if (extent->bytes) {
    tree->Insert(extent);
  } else {
    Discard(extent);
  }
  return front;
}

void PageHeap::Shelve(ExtentTree* tree, Extent* extent) {
  if (Extent* const before = IsEdge(extent->base) ? nullptr : tree->EndingAt(extent->base)) {
    tree->Remove(before);
    extent->base = before->base;
    extent->bytes += before->bytes;
    Discard(before);
  }
  if (Extent* const behind = IsEdge(extent->end()) ? nullptr : tree->BeginningAt(extent->end())) {
    tree->Remove(behind);
    extent->bytes += behind->bytes;
    Discard(behind);
  }
  tree->Insert(extent);
}

void PageHeap::Hollow(Extent* extent) {
  const auto bytes = static_cast<int64_t>(extent->bytes);
  resident_.Remove(extent);
  madvise(extent->base, extent->bytes, MADV_DONTNEED);
  ledger_->Release(bytes);
  Count(cached_, -bytes);
  Shelve(&hollow_, extent);
}

void PageHeap::Trim(size_t bytes) {
  const int64_t peak = ledger_->peak.load(std::memory_order_relaxed);
  const int64_t ceiling = std::max(kHeapFreeRein, peak + peak / 2);
  while (ledger_->reserved.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes) > ceiling) {
    Extent* const largest = resident_.Largest();
    if (!largest) break;
    Hollow(largest);
  }
}

void PageHeap::EmptyLocked() {
  while (Extent* const extent = resident_.Largest()) Hollow(extent);
  for (size_t at = regions_.size(); at-- > 0;) {
    const Region region = regions_[at];
    Extent* const whole = hollow_.BeginningAt(region.base);
    if (!whole || whole->bytes != region.bytes) continue;
    hollow_.Remove(whole);
    Discard(whole);
    munmap(region.base, region.bytes);
    regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

Extent* PageHeap::NewRegion(size_t bytes) {
  size_t mapped = 0;
  for (const Region& region : regions_) mapped += region.bytes;
  const size_t least = RoundToUnit(bytes, kHugePage);
  try {
    regions_.reserve(regions_.size() + 1);
  } catch (const std::bad_alloc&) {  // no room to remember it
    return nullptr;
  }
  for (const size_t size : {std::max({least, mapped, kFirstRegion}), least}) {
    char* const base = MapRegion(size);
    if (!base) continue;
    regions_.push_back({base, size});
    Extent* const whole = NewExtent(base, size);
    hollow_.Insert(whole);
    return whole;
  }
  return nullptr;
}

bool PageHeap::IsEdge(const char* address) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) { return region.base == address; });
}

bool PageHeap::Prepare() {
  // One for every block in use, the one that is asked for now included, and one for a new region.
  while (spares_ < used_ + 2) {
    auto* const extent = new (std::nothrow) Extent;
    if (!extent) return false;
    Discard(extent);
  }
  return true;
}

Extent* PageHeap::NewExtent(char* base, size_t bytes) {
  Extent* const extent = spare_;
  spare_ = extent->right;
  --spares_;
  *extent = {base, bytes, bytes, nullptr, nullptr};
  return extent;
}

void PageHeap::Discard(Extent* extent) {
  extent->right = spare_;
  spare_ = extent;
  ++spares_;
}

}  // namespace dragon
