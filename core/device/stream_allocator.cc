// Cutting, joining and giving back: best fit among the free blocks of a stream.
#include "core/device/stream_allocator.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace dragon {

namespace {

// Requests up to kSmall share segments of kSmallSegment, those below kAlone segments of kLargeSegment; others have one
// each. What is left of a block is worth keeping apart if another request of its kind fits.
constexpr size_t kRound = 512, kSmall = size_t{1} << 20, kSmallSegment = size_t{2} << 20;
constexpr size_t kAlone = size_t{10} << 20, kLargeSegment = size_t{20} << 20, kAloneRound = size_t{2} << 20;

std::atomic<MemoryWatcher> g_watcher{nullptr};

size_t RoundUp(size_t bytes, size_t step) { return (std::max<size_t>(bytes, 1) + step - 1) / step * step; }

size_t SegmentFor(size_t bytes) {
  if (bytes <= kSmall) return kSmallSegment;
  return bytes < kAlone ? kLargeSegment : RoundUp(bytes, kAloneRound);
}

}  // namespace

bool StreamAllocator::ByStreamAndSize::operator()(const StreamBlock* a, const StreamBlock* b) const {
  return std::tie(a->stream, a->bytes, a->base) < std::tie(b->stream, b->bytes, b->base);
}

StreamAllocator::StreamAllocator(Device device)
    : device_(device), accelerator_(AcceleratorOf(device.type)), keeps_nothing_(AllocatorIsDebugging()) {}

void* StreamAllocator::Allocate(size_t asked) {
  const bool is_exact = keeps_nothing_ || asked > SizeClass::kLargest;
  const size_t bytes = is_exact ? std::max<size_t>(asked, 1) : RoundUp(asked, kRound);
  void* const stream = accelerator_.CurrentStream(device_.index);
  const Telling telling(this);
  std::lock_guard<std::mutex> lock(mutex_);
  Collect(false);
  const PoolChoice chosen = PoolOfThread();
  const int64_t pool = chosen.index < 0 || chosen.index == device_.index ? chosen.pool : 0;
  StreamBlock* block = nullptr;
  if (asked <= SizeClass::kLargest) {
    block = Find(bytes, stream, pool);
    if (!block) block = NewSegment(bytes, stream, pool);
    if (!block && cached_.load(std::memory_order_relaxed) + static_cast<int64_t>(waiting_.size()) > 0) {
      retries_.fetch_add(1, std::memory_order_relaxed);
      Collect(true);
      Release();
      block = Find(bytes, stream, pool);
      if (!block) block = NewSegment(bytes, stream, pool);
    }
  }
  if (!block) {
    Note("oom", nullptr, asked, stream, pool);
    Fail(asked);
  }
  Cut(block, bytes);
  block->is_used = true;
  live_[block->base] = block;
  const auto size = static_cast<int64_t>(block->bytes);
  ledger_.Use(size, size);
  if (!block->is_small) ledger_.large.fetch_add(size, std::memory_order_relaxed);
  ledger_.allocations.fetch_add(1, std::memory_order_relaxed);
  Note("alloc", block->base, block->bytes, stream, pool);
  return block->base;
}

void StreamAllocator::Free(void* pointer, size_t) {
  if (!pointer || accelerator_.IsLostToFork()) return;
  const Telling telling(this);
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) throw RuntimeError("allocator").Got("a free of unknown memory").Expected("a live block");
  StreamBlock* const block = found->second;
  live_.erase(found);
  const auto size = static_cast<int64_t>(block->bytes);
  ledger_.Use(-size, 0);
  if (!block->is_small) ledger_.large.fetch_sub(size, std::memory_order_relaxed);
  ledger_.frees.fetch_add(1, std::memory_order_relaxed);
  Note("free_requested", block->base, block->bytes, block->stream, block->pool);
  if (!block->others.empty()) return waiting_.push_back(block);
  PutBack(block);
  if (keeps_nothing_) Release();
}

StreamAllocator::FreeBlocks& StreamAllocator::FreeOf(const StreamBlock* block) {
  Pool& pool = pools_[block->pool];
  return block->is_small ? pool.small : pool.large;
}

StreamBlock* StreamAllocator::Find(size_t bytes, void* stream, int64_t pool) {
  StreamBlock key;
  key.bytes = bytes, key.stream = stream, key.pool = pool, key.is_small = bytes <= kSmall;
  FreeBlocks& free = FreeOf(&key);
  const auto found = free.lower_bound(&key);
  if (found == free.end() || (*found)->stream != stream) return nullptr;
  StreamBlock* const block = *found;
  Take(block);
  return block;
}

StreamBlock* StreamAllocator::NewSegment(size_t bytes, void* stream, int64_t pool) {
  if (ExpandsSegments() && !keeps_nothing_) {
    if (StreamBlock* const range = RangeOf(stream, pool, bytes <= kSmall)) return Grow(range, bytes);
  }
  const size_t size = keeps_nothing_ ? bytes : SegmentFor(bytes);
  if (!ledger_.Reserve(static_cast<int64_t>(size))) return nullptr;
  void* const base = accelerator_.Allocate(device_.index, size);
  if (!base) {
    ledger_.Release(static_cast<int64_t>(size));
    return nullptr;
  }
  auto* const block = new StreamBlock;
  block->base = static_cast<char*>(base), block->bytes = size, block->stream = stream, block->pool = pool;
  block->is_small = bytes <= kSmall;
  segments_[block->base] = block;
  Note("segment_alloc", base, size, stream, pool);
  return block;
}

void StreamAllocator::Cut(StreamBlock* block, size_t bytes) {
  const size_t left = block->bytes - bytes;
  if (block->is_small ? left < kRound : left <= kSmall) return;
  StreamBlock* const rest = Split(block, bytes);
  rest->is_used = rest->is_hole = false;
  Offer(rest);
}

StreamBlock* StreamAllocator::Split(StreamBlock* block, size_t bytes) {
  auto* const rest = new StreamBlock(*block);
  rest->base += bytes, rest->bytes -= bytes;
  rest->before = block;
  if (rest->after) rest->after->before = rest;
  block->after = rest, block->bytes = bytes;
  return rest;
}

void StreamAllocator::Offer(StreamBlock* block) {
  block->is_used = false;
  cached_.fetch_add(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
  FreeOf(block).insert(block);
}

void StreamAllocator::Take(StreamBlock* block) {
  FreeOf(block).erase(block);
  cached_.fetch_sub(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
}

StreamBlock* StreamAllocator::PutBack(StreamBlock* block) {
  if (block->is_used && !block->is_hole) Note("free_completed", block->base, block->bytes, block->stream, block->pool);
  // A neighbour that waits for other streams is among the used ones still.
  if (block->after && !block->after->is_used) Take(block->after), Join(block, block->after);
  if (block->before && !block->before->is_used) {
    StreamBlock* const first = block->before;
    Take(first);
    Join(first, block);
    block = first;
  }
  Offer(block);
  return block;
}

void StreamAllocator::Join(StreamBlock* block, StreamBlock* next) {
  block->bytes += next->bytes;
  block->after = next->after;
  if (next->after) next->after->before = block;
  delete next;
}

void StreamAllocator::Collect(bool wait) {
  if (waiting_.empty() || CapturesUnderWay().load() > 0) return;
  const int index = device_.index;
  std::erase_if(waiting_, [&](StreamBlock* block) {
    for (void* stream : block->others) {
      void* const event = accelerator_.NewEvent(index, false, false, false);
      accelerator_.RecordEvent(index, event, stream);
      block->events.push_back(event);
    }
    block->others.clear();
    std::erase_if(block->events, [&](void* event) {
      if (wait) accelerator_.SynchronizeEvent(index, event);
      if (!wait && !accelerator_.EventIsDone(index, event)) return false;
      accelerator_.DropEvent(index, event);
      return true;
    });
    if (!block->events.empty()) return false;
    PutBack(block);
    return true;
  });
}

void StreamAllocator::Release() {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    StreamBlock* const block = segment->second;
    const bool is_held = pools_[block->pool].holders > 0;
    if (block->range) {  // nobody may wait for a stream while graphs are noted down
      const bool is_empty = !is_held && CapturesUnderWay().load() == 0 && Shrink(block);
      segment = is_empty ? segments_.erase(segment) : std::next(segment);
      if (is_empty) DropRange(block);
      continue;
    }
    if (block->is_used || block->after || is_held) {
      ++segment;
      continue;
    }
    accelerator_.Free(device_.index, block->base, block->bytes);
    Note("segment_free", block->base, block->bytes, block->stream, block->pool);
    Take(block);
    ledger_.Release(static_cast<int64_t>(block->bytes));
    delete block;
    segment = segments_.erase(segment);
  }
}

void StreamAllocator::Fail(size_t bytes) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  const auto [free, total] = accelerator_.Memory(device_.index);
  const int64_t reserved = ledger_.reserved.load(), used = ledger_.current.load(), limit = ledger_.limit.load();
  const int64_t asked = static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX));
  throw MemoryError("allocate")
      .Says("CUDA out of memory. Tried to allocate ", SizeText(asked), ". GPU ", device_.index,
            " has a total capacity of ", SizeText(total), " of which ", SizeText(free),
            " is free. This process has reserved ", SizeText(reserved), ": ", SizeText(used),
            " is in use by tensors and ", SizeText(cached_.load()), " is cached; ",
            SizeText(std::max<int64_t>(total - free - reserved, 0)),
            " is held by others: contexts, libraries, other processes",
            limit < total ? ". This process may take no more than " + SizeText(limit) : std::string());
}

void StreamAllocator::RecordUse(void* pointer, void* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) return;  // memory of somebody else's
  StreamBlock* const block = found->second;
  if (stream == block->stream || std::ranges::find(block->others, stream) != block->others.end()) return;
  block->others.push_back(stream);
}

MemoryStats StreamAllocator::Stats() const { return ledger_.Stats(cached_.load(std::memory_order_relaxed)); }
void StreamAllocator::ResetPeak() { ledger_.ResetPeak(); }

void StreamAllocator::EmptyCache() {
  if (accelerator_.IsLostToFork()) return;
  const Telling telling(this);
  std::lock_guard<std::mutex> lock(mutex_);
  Collect(true);
  Release();
}

int64_t StreamAllocator::NewPool() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1) + 1;
}

void StreamAllocator::HoldPool(int64_t pool) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++pools_[pool].holders;
}

void StreamAllocator::ReleasePool(int64_t pool) {
  std::lock_guard<std::mutex> lock(mutex_);
  --pools_[pool].holders;
}

std::vector<SegmentFacts> StreamAllocator::Snapshot() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<SegmentFacts> segments;
  for (const auto& [base, first] : segments_) {
    const SegmentFacts none{0, 0, first->stream, first->pool, first->is_small, first->range != nullptr, {}};
    SegmentFacts facts = none;
    for (const StreamBlock* block = first; block; block = block->after) {
      if (!block->is_hole) {
        facts.pieces.push_back({reinterpret_cast<uintptr_t>(block->base), block->bytes, block->is_used});
        facts.bytes += block->bytes;
      }
      if (facts.pieces.empty() || (block->after && !block->is_hole)) continue;
      facts.address = facts.pieces.front().address;  // a range is a segment between any two of its holes
      segments.push_back(std::exchange(facts, none));
    }
  }
  return segments;
}

void SetMemoryWatcher(MemoryWatcher watcher) { g_watcher.store(watcher); }

void StreamAllocator::Note(const char* action, void* base, size_t bytes, void* stream, int64_t pool) {
  if (DRAGON_LIKELY(!g_watcher.load(std::memory_order_relaxed))) return;
  notes_.push_back({action, device_.index, reinterpret_cast<uintptr_t>(base), bytes, stream, pool});
}

StreamAllocator::Telling::~Telling() {
  const MemoryWatcher watcher = g_watcher.load(std::memory_order_relaxed);
  if (DRAGON_LIKELY(!watcher)) return;
  std::vector<MemoryNote> notes;
  {
    std::lock_guard<std::mutex> lock(allocator_->mutex_);
    notes.swap(allocator_->notes_);
  }
  if (!notes.empty()) watcher(notes);
}

const void* StreamAllocator::SegmentOf(const void* address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = segments_.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (found == segments_.begin()) return nullptr;
  --found;
  if (found->second->range) return nullptr;  // pages of a range have no name that other processes know
  const char* end = found->first;
  for (const StreamBlock* block = found->second; block; block = block->after) end = block->base + block->bytes;
  return static_cast<const char*>(address) < end ? found->first : nullptr;
}

PoolChoice& PoolOfThread() {
  static thread_local PoolChoice choice;
  return choice;
}

StreamAllocator& StreamAllocatorOf(int index) {
  return dynamic_cast<StreamAllocator&>(DeviceAllocator({DeviceType::kCUDA, static_cast<int16_t>(index)}));
}

}  // namespace dragon
