// Whole pages for the host's big blocks: cut to measure, and what is free side by side becomes one again.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/device/extent_tree.h"
#include "core/device/ledger.h"

namespace dragon {

/// Keeps pages that have been touched, so that steady work faults none, in hardly more memory than it uses at its peak:
/// a freed block serves requests of every size, alone or together with its free neighbours.
///
/// Free pages are *resident* (touched once, counted as reserved and cached) or *hollow* (addresses only, which cost
/// nothing until they are handed out). A request takes the first resident pages that fit, else makes hollow ones
/// resident. Of fits by size, by age and by address, the lowest address wasted least over the nets that were tried.
/// Before more becomes resident, idle pages are given back once reserved memory would pass 1.5 x peak use.
class PageHeap {
 public:
  explicit PageHeap(Ledger* ledger) : ledger_(ledger) {}
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  /// `bytes` of uninitialised memory from a whole page on; nullptr when limit or system refuse even with nothing kept.
  void* Take(size_t bytes);
  /// Give back what Take(bytes) returned.
  void Put(void* pointer, size_t bytes);
  /// Give all resident free pages back to the system, and regions that hold nothing.
  void Empty();
  /// Bytes of resident free pages.
  int64_t cached() const { return cached_.load(std::memory_order_relaxed); }

  /// Held across fork, so that a child finds the trees whole.
  std::mutex& mutex() { return mutex_; }

 private:
  /// A range of addresses from the system. Extents of two regions are never joined.
  struct Region {
    char* base;
    size_t bytes;
  };

  /// Make `bytes` resident that were not, if need be behind a resident extent; nullptr when there is no way.
  char* Grow(size_t bytes);
  /// The longest resident extent that, with the hollow one behind it, has room for `bytes`; nullptr if none.
  Extent* LongestBeforeRoom(size_t bytes) const;
  /// Take `bytes` from the front of an extent of a tree.
  char* Cut(ExtentTree* tree, Extent* extent, size_t bytes);
  /// Put free memory into a tree, joined with its neighbours there.
  void Shelve(ExtentTree* tree, Extent* extent);
  /// Give the pages of a resident extent back to the system.
  void Hollow(Extent* extent);
  /// Hollow out extents until `bytes` more keep to the rule above.
  void Trim(size_t bytes);
  void EmptyLocked();
  /// Map a region with room for `bytes`, all hollow; nullptr when the system has none.
  Extent* NewRegion(size_t bytes);
  bool IsEdge(const char* address) const;

  /// Have a spare extent for a block in use to come back with: freeing must not fail.
  bool Prepare();
  Extent* NewExtent(char* base, size_t bytes);
  void Discard(Extent* extent);

  Ledger* ledger_;
  std::mutex mutex_;
  ExtentTree resident_, hollow_;
  std::vector<Region> regions_;
  Extent* spare_ = nullptr;         // linked by `right`
  int64_t spares_ = 0, used_ = 0;   // spare extents; blocks handed out
  std::atomic<int64_t> cached_{0};  // written under the lock only
};

}  // namespace dragon
