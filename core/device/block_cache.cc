// Bins of free blocks: last in, first out, so that what the processor's caches still hold is used again.
#include "core/device/block_cache.h"

namespace dragon {

namespace {

/// Below this much reserved memory nothing is dropped.
constexpr int64_t kFreeRein = int64_t{256} << 20;

}  // namespace

void* BlockCache::Take(size_t bytes) {
  const int index = SizeClass::Of(bytes);
  const size_t size = SizeClass::Bytes(index);
  std::lock_guard<std::mutex> lock(mutex_);
  auto& bin = bins_[index];
  if (!bin.empty()) {
    void* pointer = bin.back().pointer;
    bin.pop_back();
    Count(cached_, -static_cast<int64_t>(size));
    return pointer;
  }
  Trim(size);
  if (void* pointer = MapBlock(size)) return pointer;
  EmptyLocked();
  return MapBlock(size);
}

void BlockCache::Put(void* pointer, size_t bytes) {
  const int index = SizeClass::Of(bytes);
  const size_t size = SizeClass::Bytes(index);
  std::lock_guard<std::mutex> lock(mutex_);
  try {
    bins_[index].push_back({pointer, ++clock_});
    Count(cached_, static_cast<int64_t>(size));
  } catch (const std::bad_alloc&) {  // no room to remember it: let it go
    source_->Unmap(pointer, size);
    ledger_->Release(static_cast<int64_t>(size));
  }
}

void BlockCache::Empty() {
  std::lock_guard<std::mutex> lock(mutex_);
  EmptyLocked();
}

void* BlockCache::MapBlock(size_t size) {
  if (!ledger_->Reserve(static_cast<int64_t>(size))) return nullptr;
  void* pointer = source_->Map(size);
  if (!pointer) ledger_->Release(static_cast<int64_t>(size));
  return pointer;
}

void BlockCache::EmptyLocked() {
  for (int index = 0; index < SizeClass::kCount; ++index) {
    const size_t size = SizeClass::Bytes(index);
    for (const Block& block : bins_[index]) {
      source_->Unmap(block.pointer, size);
      ledger_->Release(static_cast<int64_t>(size));
    }
    bins_[index].clear();
  }
  cached_.store(0, std::memory_order_relaxed);
}

void BlockCache::Trim(size_t size) {
  const int64_t peak = ledger_->peak.load(std::memory_order_relaxed);
  const int64_t ceiling = std::max(kFreeRein, peak + peak / 2);
  while (cached() > 0 && ledger_->reserved.load(std::memory_order_relaxed) + static_cast<int64_t>(size) > ceiling) {
    DropOldest();
  }
}

void BlockCache::DropOldest() {
  int oldest = -1;
  for (int index = 0; index < SizeClass::kCount; ++index) {
    if (bins_[index].empty()) continue;
    if (oldest < 0 || bins_[index].front().stamp < bins_[oldest].front().stamp) oldest = index;
  }
  auto& bin = bins_[oldest];
  const size_t size = SizeClass::Bytes(oldest);
  source_->Unmap(bin.front().pointer, size);
  bin.erase(bin.begin());
  ledger_->Release(static_cast<int64_t>(size));
  Count(cached_, -static_cast<int64_t>(size));
}

}  // namespace dragon
