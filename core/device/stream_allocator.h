// The caching allocator of devices with streams: segments of memory cut into blocks, each of which belongs to a stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/device/accelerator.h"
#include "core/device/ledger.h"

namespace dragon {

class PageRange;

/// A piece of a segment. Pieces side by side know each other; two free ones of a stream are joined.
struct StreamBlock {
  char* base = nullptr;
  size_t bytes = 0;
  void* stream = nullptr;
  int64_t pool = 0;
  bool is_small = false, is_used = false;
  bool is_hole = false;        // addresses of a range without memory: among the used ones, so that nobody takes it
  PageRange* range = nullptr;  // of a segment that grows
  StreamBlock *before = nullptr, *after = nullptr;
  std::vector<void*> others;  // streams besides its own that use it
  std::vector<void*> events;  // of those, once it came back
};

/// What is told of a segment, and of the blocks that it is cut into.
struct SegmentFacts {
  uintptr_t address = 0;
  size_t bytes = 0;
  void* stream = nullptr;
  int64_t pool = 0;
  bool is_small = false, is_expandable = false;
  struct Piece {
    uintptr_t address;
    size_t bytes;
    bool is_used;
  };
  std::vector<Piece> pieces;
};

/// Whether segments that are made from now on are ranges that grow and shrink by pages, where the device can do that.
DRAGON_API bool ExpandsSegments();
DRAGON_API void SetExpandsSegments(bool expands);

/// What happened to memory: "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free" or "oom".
struct MemoryNote {
  const char* action;
  int index;
  uintptr_t address;
  size_t bytes;
  void* stream;
  int64_t pool;
};
/// Who is told of all that happens, by the thread that did it, and while no allocator is held; it must not throw.
using MemoryWatcher = void (*)(const std::vector<MemoryNote>& notes);
DRAGON_API void SetMemoryWatcher(MemoryWatcher watcher);

/// A block is given out again to the stream that it was made for, and to no other: work that is queued there comes
/// after what used the block before, so nobody has to wait. Who uses it on another stream says so (RecordUse). Under a
/// debugging DRAGON_ALLOCATOR nothing is kept or rounded: tools that watch a device's memory see every block.
class DRAGON_API StreamAllocator : public Allocator {
 public:
  explicit StreamAllocator(Device device);
  void* Allocate(size_t bytes) override;
  void Free(void* pointer, size_t bytes) override;
  MemoryStats Stats() const override;
  void ResetPeak() override;
  void SetLimit(int64_t bytes) override { ledger_.limit.store(bytes, std::memory_order_relaxed); }
  void EmptyCache() override;

  /// A stream uses a block from now on: once freed, the block waits for what that stream was given until then.
  void RecordUse(void* pointer, void* stream);
  /// A pool holds memory for graphs. It keeps its segments while somebody holds it.
  static int64_t NewPool();
  void HoldPool(int64_t pool);
  void ReleasePool(int64_t pool);
  std::vector<SegmentFacts> Snapshot();
  /// The beginning of the segment, as the backend gave it out, in which an address lies; null for
  /// none, and for one that grows by pages.
  const void* SegmentOf(const void* address) const;
  /// How often memory ran out with something in the cache, and how often for good.
  int64_t retries() const { return retries_.load(std::memory_order_relaxed); }
  int64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  /// Hands what was noted to the watcher when a call is over: made before the call locks the allocator.
  class Telling {
   public:
    explicit Telling(StreamAllocator* allocator) : allocator_(allocator) {}
    ~Telling();
    Telling(const Telling&) = delete;
    Telling& operator=(const Telling&) = delete;

   private:
    StreamAllocator* allocator_;
  };
  void Note(const char* action, void* base, size_t bytes, void* stream, int64_t pool);

  struct ByStreamAndSize {
    bool operator()(const StreamBlock* a, const StreamBlock* b) const;
  };
  using FreeBlocks = std::set<StreamBlock*, ByStreamAndSize>;
  struct Pool {
    FreeBlocks small, large;
    int holders = 0;
  };

  FreeBlocks& FreeOf(const StreamBlock* block);
  StreamBlock* Find(size_t bytes, void* stream, int64_t pool);
  StreamBlock* NewSegment(size_t bytes, void* stream, int64_t pool);
  /// Give the end of a block that is larger than it needs to be back to the free ones.
  void Cut(StreamBlock* block, size_t bytes);
  /// Leave a block its first `bytes`; the rest is one of its own, and in no list.
  StreamBlock* Split(StreamBlock* block, size_t bytes);
  /// To the free ones, and away from them.
  void Offer(StreamBlock* block);
  void Take(StreamBlock* block);
  /// Offer a block, joined with its neighbours: what it is part of now.
  StreamBlock* PutBack(StreamBlock* block);
  void Join(StreamBlock* block, StreamBlock* neighbour);

  /// The first block of a range that grows, made when it is first asked for; null where the device has none.
  StreamBlock* RangeOf(void* stream, int64_t pool, bool is_small);
  /// A block of a range, of at least `bytes`, with new pages in it; null if there is no memory.
  StreamBlock* Grow(StreamBlock* first, size_t bytes);
  /// Give the pages of a range that hold nothing back; whether none is left.
  bool Shrink(StreamBlock* first);
  void DropRange(StreamBlock* first);
  /// Take back the blocks for which other streams need not wait any more.
  void Collect(bool wait);
  /// Give segments that hold nothing back to the device.
  void Release();
  [[noreturn]] void Fail(size_t bytes);

  Device device_;
  Accelerator& accelerator_;
  const bool keeps_nothing_;  ///< every block is a segment of its own, of just its size, and goes back at once
  Ledger ledger_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, StreamBlock*> live_;
  std::map<char*, StreamBlock*> segments_;                           // the first block of each
  std::map<std::tuple<void*, int64_t, bool>, StreamBlock*> ranges_;  // those that grow, by stream, pool and is_small
  std::map<int64_t, Pool> pools_;
  std::vector<StreamBlock*> waiting_;
  std::vector<MemoryNote> notes_;  // none unless somebody watches
  std::atomic<int64_t> cached_{0}, retries_{0}, failures_{0};
};

/// The pool from which this thread allocates on a device, or on all of them (-1): 0 is everybody's.
struct PoolChoice {
  int64_t pool = 0;
  int index = -1;
};
DRAGON_API PoolChoice& PoolOfThread();
/// The allocator of a CUDA device.
DRAGON_API StreamAllocator& StreamAllocatorOf(int index);

}  // namespace dragon
