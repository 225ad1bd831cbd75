// Blocks of pinned memory by size class. A block that a stream may still read waits behind events.
#include "core/device/pinned.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/device/allocator.h"

namespace dragon {

namespace {

using Use = std::pair<int, void*>;  // a device, and a stream or an event of it

struct PinnedBlock {
  size_t bytes = 0;
  std::vector<Use> streams, events;
};

class PinnedCache {
 public:
  static PinnedCache& Get() {
    static auto* cache = new PinnedCache;  // never destroyed: tensors may outlive static destructors
    return *cache;
  }

  void* Allocate(size_t bytes) {
    const size_t size = SizeClass::Bytes(SizeClass::Of(bytes));
    std::lock_guard<std::mutex> lock(mutex_);
    Collect(false);
    char* pointer = Take(size);
    if (!pointer) pointer = Map(size);
    if (!pointer) {
      EmptyLocked();
      pointer = Map(size);
    }
    if (!pointer) {
      throw MemoryError("pin_memory")
          .Got("a request for ", bytes, " bytes")
          .Expected("as much memory that can be pinned");
    }
    live_[pointer].bytes = size;
    stats_.current += static_cast<int64_t>(size);
    stats_.peak = std::max(stats_.peak, stats_.current);
    ++stats_.allocations;
    return pointer;
  }

  void Free(void* pointer) {
    if (!pointer || Device().IsLostToFork()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(static_cast<char*>(pointer));
    if (found == live_.end()) return;
    auto node = live_.extract(found);
    stats_.current -= static_cast<int64_t>(node.mapped().bytes);
    if (node.mapped().streams.empty()) {
      free_.emplace(node.mapped().bytes, node.key());
    } else {
      waiting_.push_back({node.key(), std::move(node.mapped())});
    }
  }

  bool Holds(const void* pointer, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto block = Find(pointer);
    return block != live_.end() && static_cast<const char*>(pointer) + bytes <= block->first + block->second.bytes;
  }

  void NoteUse(const void* pointer, int index, void* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto block = Find(pointer);
    if (block == live_.end()) return;
    auto& streams = block->second.streams;
    if (std::find(streams.begin(), streams.end(), Use(index, stream)) == streams.end())
      streams.emplace_back(index, stream);
  }

  void Empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    EmptyLocked();
  }

  PinnedStats Stats() {
    std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }

 private:
  using Blocks = std::map<char*, PinnedBlock>;

  static Accelerator& Device() { return AcceleratorOf(DeviceType::kCUDA); }

  char* Take(size_t size) {
    const auto found = free_.find(size);
    return found == free_.end() ? nullptr : free_.extract(found).mapped();
  }

  char* Map(size_t size) {
    void* const pointer = Device().MapPinned(size);
    if (pointer) stats_.reserved += static_cast<int64_t>(size);
    return static_cast<char*>(pointer);
  }

  Blocks::iterator Find(const void* pointer) {
    auto block = live_.upper_bound(static_cast<char*>(const_cast<void*>(pointer)));
    if (block == live_.begin()) return live_.end();
    --block;
    return static_cast<const char*>(pointer) < block->first + block->second.bytes ? block : live_.end();
  }

  /// Record events for blocks that came back, and free those whose events have come.
  void Collect(bool wait) {
    if (waiting_.empty() || CapturesUnderWay().load() > 0) return;
    std::erase_if(waiting_, [&](auto& waiting) {
      PinnedBlock& block = waiting.second;
      for (const auto& [index, stream] : block.streams) {
        void* const event = Device().NewEvent(index, false, false, false);
        Device().RecordEvent(index, event, stream);
        block.events.emplace_back(index, event);
      }
      block.streams.clear();
      std::erase_if(block.events, [&](const Use& event) {
        if (wait) Device().SynchronizeEvent(event.first, event.second);
        if (!wait && !Device().EventIsDone(event.first, event.second)) return false;
        Device().DropEvent(event.first, event.second);
        return true;
      });
      if (!block.events.empty()) return false;
      free_.emplace(block.bytes, waiting.first);
      return true;
    });
  }

  void EmptyLocked() {
    Collect(true);
    for (const auto& [size, pointer] : free_) {
      Device().UnmapPinned(pointer, size);
      stats_.reserved -= static_cast<int64_t>(size);
    }
    free_.clear();
  }

  std::mutex mutex_;
  Blocks live_;
  std::multimap<size_t, char*> free_;
  std::vector<std::pair<char*, PinnedBlock>> waiting_;
  PinnedStats stats_;
};

}  // namespace

void* AllocatePinned(size_t bytes) { return PinnedCache::Get().Allocate(bytes); }
void FreePinned(void* pointer) { PinnedCache::Get().Free(pointer); }
bool IsPinned(const void* pointer, size_t bytes) { return PinnedCache::Get().Holds(pointer, bytes); }
void UsePinned(const void* pointer, int index, void* stream) { PinnedCache::Get().NoteUse(pointer, index, stream); }
void EmptyPinnedCache() { PinnedCache::Get().Empty(); }
PinnedStats StatsOfPinned() { return PinnedCache::Get().Stats(); }

}  // namespace dragon
