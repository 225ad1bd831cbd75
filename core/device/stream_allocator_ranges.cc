// Segments that grow and shrink: a range of addresses for each stream, larger than the device's memory, whose pages
// come as they are needed. Memory that is free in several places makes one long block, however often sizes change.
#include <atomic>

#include "core/device/page_range.h"
#include "core/device/stream_allocator.h"

namespace dragon {

namespace {

std::atomic<bool> g_expands{false};

// A page of small blocks is that small: their range is for few of them. Large pages take fewer calls of the driver.
constexpr size_t kSmallPage = size_t{2} << 20, kLargePage = size_t{20} << 20;

size_t WholePages(size_t bytes, size_t page) { return (bytes + page - 1) / page * page; }
bool IsFree(const StreamBlock* block) { return block && !block->is_used; }

}  // namespace

bool ExpandsSegments() { return g_expands.load(std::memory_order_relaxed); }
void SetExpandsSegments(bool expands) { g_expands.store(expands, std::memory_order_relaxed); }

StreamBlock* StreamAllocator::RangeOf(void* stream, int64_t pool, bool is_small) {
  StreamBlock*& first = ranges_[{stream, pool, is_small}];
  if (first) return first;
  const size_t page = is_small ? kSmallPage : kLargePage;
  const auto [free, total] = accelerator_.Memory(device_.index);
  // An eighth more than there is: holes between blocks may be as long as that before the end is reached.
  const size_t bytes = WholePages(static_cast<size_t>(total) + static_cast<size_t>(total) / 8, page);
  auto range = PageRange::Reserve(accelerator_, device_.index, bytes, page);
  if (!range) return nullptr;
  first = new StreamBlock;
  first->base = range->base(), first->bytes = range->bytes(), first->stream = stream, first->pool = pool;
  first->is_small = is_small, first->is_used = first->is_hole = true;
  first->range = range.release();
  return segments_[first->base] = first;
}

StreamBlock* StreamAllocator::Grow(StreamBlock* first, size_t bytes) {
  PageRange& range = *first->range;
  for (StreamBlock* hole = first; hole; hole = hole->after) {
    if (!hole->is_hole) continue;
    const size_t before = IsFree(hole->before) ? hole->before->bytes : 0;
    size_t missing = WholePages(bytes - before, range.page());
    if (missing > hole->bytes) {
      const size_t behind = IsFree(hole->after) ? hole->after->bytes : 0;
      if (before + hole->bytes + behind < bytes) continue;
      missing = hole->bytes;
    }
    const auto booked = static_cast<int64_t>(missing);
    if (!ledger_.Reserve(booked)) return nullptr;
    if (!range.Map(hole->base, missing)) {
      ledger_.Release(booked);
      return nullptr;
    }
    Note("segment_alloc", hole->base, missing, first->stream, first->pool);
    if (missing < hole->bytes) Split(hole, missing);  // the rest stays a hole
    hole->is_used = hole->is_hole = false;
    StreamBlock* const block = PutBack(hole);
    Take(block);
    return block;
  }
  return nullptr;
}

bool StreamAllocator::Shrink(StreamBlock* first) {
  PageRange& range = *first->range;
  bool waited = false;
  for (StreamBlock* block = first; block; block = block->after) {
    if (block->is_used) continue;
    const size_t begin = block->base - range.base(), end = begin + block->bytes;
    const size_t from = WholePages(begin, range.page()), to = end / range.page() * range.page();
    if (from >= to) continue;
    // What was queued before the block came back may be at work on it still.
    if (!waited) accelerator_.SynchronizeStream(device_.index, first->stream);
    waited = true;
    Take(block);
    if (to < end) Offer(Split(block, to - begin));
    if (from > begin) {
      StreamBlock* const rest = Split(block, from - begin);
      Offer(block);
      block = rest;
    }
    range.Unmap(block->base, block->bytes);
    Note("segment_free", block->base, block->bytes, block->stream, block->pool);
    ledger_.Release(static_cast<int64_t>(block->bytes));
    block->is_used = block->is_hole = true;
    if (block->after && block->after->is_hole) Join(block, block->after);
    if (StreamBlock* const before = block->before; before && before->is_hole) {
      Join(before, block);
      block = before;
    }
  }
  return first->is_hole && !first->after;
}

void StreamAllocator::DropRange(StreamBlock* first) {
  ranges_.erase({first->stream, first->pool, first->is_small});
  delete first->range;
  delete first;
}

}  // namespace dragon
