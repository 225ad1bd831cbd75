// Free blocks kept by size class: the cache of a device whose memory cannot be cut.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/device/ledger.h"

namespace dragon {

/// Where blocks come from and go to.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Raw memory, or nullptr.
  virtual void* Map(size_t bytes) = 0;
  virtual void Unmap(void* pointer, size_t bytes) = 0;
};

/// A freed block waits in the bin of its class, so that the next request of that class faults no page. Sizes that are
/// not asked for again would pile up: a miss drops the blocks unused for longest once reserved memory passes 1.5 x peak
/// use.
class BlockCache {
 public:
  BlockCache(BlockSource* source, Ledger* ledger) : source_(source), ledger_(ledger) {}
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// A block of the class of `bytes`; nullptr when limit or system refuse even with an empty cache.
  void* Take(size_t bytes);
  void Put(void* pointer, size_t bytes);
  /// Give all cached blocks back to the source.
  void Empty();
  int64_t cached() const { return cached_.load(std::memory_order_relaxed); }

  /// Held across fork, so that a child finds the bins whole.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Block {
    void* pointer;
    uint64_t stamp;  // when it was freed; the lowest is dropped first
  };

  void* MapBlock(size_t size);
  void EmptyLocked();
  /// Drop the oldest blocks until reserving `size` more keeps to the rule above.
  void Trim(size_t size);
  void DropOldest();

  BlockSource* source_;
  Ledger* ledger_;
  std::mutex mutex_;
  std::vector<Block> bins_[SizeClass::kCount];
  std::atomic<int64_t> cached_{0};  // written under the lock only
  uint64_t clock_ = 0;
};

}  // namespace dragon
