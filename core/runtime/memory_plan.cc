// Offline packing of lifetimes, and the pools to compare it with.
#include "core/runtime/memory_plan.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "core/base/error.h"

namespace dragon {

namespace {

constexpr int64_t kAlignment = 64;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t PlanNaive(std::vector<BufferLifetime>& buffers) {
  int64_t end = 0;
  for (BufferLifetime& buffer : buffers) {
    buffer.offset = end;
    end += Aligned(buffer.bytes);
  }
  return end;
}

/// The largest buffers choose first, each the lowest gap between those placed before it that live at the same time.
int64_t PlanArena(std::vector<BufferLifetime>& buffers) {
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (buffers[a].bytes != buffers[b].bytes) return buffers[a].bytes > buffers[b].bytes;
    return buffers[a].first < buffers[b].first;
  });
  std::vector<int> placed;  // by offset
  int64_t end = 0;
  for (int index : order) {
    BufferLifetime& buffer = buffers[index];
    const int64_t bytes = Aligned(buffer.bytes);
    int64_t from = 0, best = -1, best_gap = INT64_MAX;
    for (int other : placed) {
      const BufferLifetime& there = buffers[other];
      if (there.last < buffer.first || buffer.last < there.first) continue;
      const int64_t gap = there.offset - from;
      if (gap >= bytes && gap < best_gap) best = from, best_gap = gap;
      from = std::max(from, there.offset + Aligned(there.bytes));
    }
    buffer.offset = best >= 0 ? best : from;
    end = std::max(end, buffer.offset + bytes);
    const auto place = std::upper_bound(placed.begin(), placed.end(), buffer.offset,
                                        [&](int64_t offset, int b) { return offset < buffers[b].offset; });
    placed.insert(place, index);
  }
  return end;
}

int64_t PlanPool(std::vector<BufferLifetime>& buffers, bool first_in_first_out) {
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return buffers[a].first < buffers[b].first; });
  std::multimap<int32_t, int> busy;  // last call -> pool
  std::deque<int> free;
  std::vector<int64_t> sizes;
  std::vector<int> pool_of(buffers.size());
  for (int index : order) {
    const BufferLifetime& buffer = buffers[index];
    while (!busy.empty() && busy.begin()->first < buffer.first) {
      free.push_back(busy.begin()->second);
      busy.erase(busy.begin());
    }
    int pool = static_cast<int>(sizes.size());
    if (free.empty()) {
      sizes.push_back(0);
    } else if (first_in_first_out) {
      pool = free.front();
      free.pop_front();
    } else {
      pool = free.back();
      free.pop_back();
    }
    sizes[pool] = std::max(sizes[pool], Aligned(buffer.bytes));
    pool_of[index] = pool;
    busy.emplace(buffer.last, pool);
  }
  std::vector<int64_t> offsets(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i].offset = offsets[pool_of[i]];
  return offsets.back();
}

}  // namespace

int64_t PlanOffsets(std::vector<BufferLifetime>& buffers, MemoryMode mode) {
  switch (mode) {
    case MemoryMode::kNaive:
      return PlanNaive(buffers);
    case MemoryMode::kArena:
      return PlanArena(buffers);
    default:
      return PlanPool(buffers, mode == MemoryMode::kFifo);
  }
}

MemoryMode MemoryModeNamed(const std::string& name) {
  if (name == "naive") return MemoryMode::kNaive;
  if (name == "arena") return MemoryMode::kArena;
  if (name == "fifo") return MemoryMode::kFifo;
  if (name == "lifo") return MemoryMode::kLifo;
  throw ValueError("plan").Got("memory '", name, "'").Expected("'naive', 'arena', 'fifo' or 'lifo'");
}

}  // namespace dragon
