// The steps of collectives and messages, and the arithmetic of reductions.
#include "tests/cuda/simt/nccl_moves.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/half.h"
#include "core/base/minifloat.h"
#include "tests/cuda/simt/machine.h"

namespace simt {
namespace {

constexpr int kTypes = 12;

template <typename T>
T Joined(T a, T b, int op) {
  if (op == 1) return static_cast<T>(a * b);
  if (op == 2) return a > b ? a : b;
  if (op == 3) return a < b ? a : b;
  return static_cast<T>(a + b);
}

/// In the order of the ranks; what is smaller than a float is added as one.
template <typename T>
void ReduceAs(const std::vector<const char*>& parts, char* out, uint64_t count, int op) {
  using Sum = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  for (uint64_t i = 0; i < count; ++i) {
    Sum sum = static_cast<Sum>(reinterpret_cast<const T*>(parts[0])[i]);
    for (size_t q = 1; q < parts.size(); ++q)
      sum = Joined<Sum>(sum, static_cast<Sum>(reinterpret_cast<const T*>(parts[q])[i]), op);
    if (op == 4) sum = static_cast<Sum>(sum / static_cast<Sum>(parts.size()));
    reinterpret_cast<T*>(out)[i] = static_cast<T>(sum);
  }
}

void ReduceParts(int type, const std::vector<const char*>& parts, char* out, uint64_t count, int op) {
  using Reducer = void (*)(const std::vector<const char*>&, char*, uint64_t, int);
  constexpr Reducer kReducers[kTypes] = {&ReduceAs<int8_t>,
                                         &ReduceAs<uint8_t>,
                                         &ReduceAs<int32_t>,
                                         &ReduceAs<uint32_t>,
                                         &ReduceAs<int64_t>,
                                         &ReduceAs<uint64_t>,
                                         &ReduceAs<dragon::float16>,
                                         &ReduceAs<float>,
                                         &ReduceAs<double>,
                                         &ReduceAs<dragon::bfloat16>,
                                         &ReduceAs<dragon::float8_e4m3fn>,
                                         &ReduceAs<dragon::float8_e5m2>};
  kReducers[type](parts, out, count, op);
}

}  // namespace

uint64_t ItemOf(int type) {
  constexpr uint64_t kItems[kTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < kTypes ? kItems[type] : 0;
}

CollectiveMove::CollectiveMove(Communicator* of, Saying saying, const void* in, void* out)
    : saying_(saying), in_(static_cast<const char*>(in)), out_(static_cast<char*>(out)) {
  communicator = of;
  item_ = ItemOf(saying.type), each_ = saying.count;
  const uint64_t parts = saying.kind == kReduceScatter ? of->size : 1;
  chunk_ = kSheetBytes / (parts * item_);
}

bool CollectiveMove::All(std::atomic<uint32_t> Seat::* word) const {
  for (int q = 0; q < communicator->size; ++q) {
    const uint32_t there = (communicator->segment->seats[q].*word).load(std::memory_order_acquire);
    if (static_cast<int32_t>(there - communicator->step) < 0) return false;
  }
  return true;
}

void CollectiveMove::Fill() {
  Seat& mine = communicator->segment->seats[communicator->rank];
  const uint64_t count = std::min(chunk_, each_ - at_);
  const OpenMemory open(communicator->device);
  const int parts = saying_.kind == kReduceScatter ? communicator->size : 1;
  const bool gives = saying_.kind != kBroadcast || communicator->rank == saying_.root;
  for (int q = 0; q < parts && gives; ++q)
    std::memcpy(mine.sheet + q * count * item_, in_ + (q * each_ + at_) * item_, count * item_);
  mine.saying = saying_;
}

void CollectiveMove::Take() {
  const uint64_t count = std::min(chunk_, each_ - at_);
  const OpenMemory open(communicator->device);
  const int me = communicator->rank, size = communicator->size;
  const auto sheet = [&](int q) { return communicator->segment->seats[q].sheet; };
  if (saying_.kind == kBroadcast) {
    std::memcpy(out_ + at_ * item_, sheet(saying_.root), count * item_);
  } else if (saying_.kind == kAllGather) {
    for (int q = 0; q < size; ++q) std::memcpy(out_ + (q * each_ + at_) * item_, sheet(q), count * item_);
  } else if (saying_.kind != kReduce || me == saying_.root) {
    std::vector<const char*> parts;
    const uint64_t offset = saying_.kind == kReduceScatter ? me * count * item_ : 0;
    for (int q = 0; q < size; ++q) parts.push_back(sheet(q) + offset);
    ReduceParts(saying_.type, parts, out_ + at_ * item_, count, saying_.op);
  }
}

bool CollectiveMove::Step(std::string* trouble) {
  Seat& mine = communicator->segment->seats[communicator->rank];
  if (phase_ == 0) {
    ++communicator->step;
    Fill();
    mine.posted.store(communicator->step, std::memory_order_release);
    phase_ = 1;
  }
  if (phase_ == 1) {
    if (!All(&Seat::posted)) return false;
    for (int q = 0; q < communicator->size; ++q) {
      if (communicator->segment->seats[q].saying == saying_) continue;
      *trouble = "ranks of a communicator that do different things: a GPU would wait for ever, or write elsewhere";
      return true;
    }
    Take();
    mine.taken.store(communicator->step, std::memory_order_release);
    phase_ = 2;
  }
  if (!All(&Seat::taken)) return false;
  at_ += chunk_, phase_ = 0;
  return at_ >= each_;
}

bool MessageMove::Step(std::string* trouble) {
  const int me = communicator->rank;
  Box& box = goes_out_ ? communicator->segment->boxes[me][peer_] : communicator->segment->boxes[peer_][me];
  while (moved_ < bytes_) {
    const bool is_full = box.sent.load(std::memory_order_acquire) != box.received.load(std::memory_order_acquire);
    if (is_full == goes_out_) return false;
    const OpenMemory open(communicator->device);
    if (goes_out_) {
      box.bytes = std::min<uint64_t>(kBoxBytes, bytes_ - moved_), box.total = bytes_;
      std::memcpy(box.data, data_ + moved_, box.bytes);
      moved_ += box.bytes;
      box.sent.fetch_add(1, std::memory_order_release);
      continue;
    }
    if (box.total != bytes_) {
      *trouble = "a message of " + std::to_string(box.total) + " bytes for a receive of " + std::to_string(bytes_);
      return true;
    }
    std::memcpy(data_ + moved_, box.data, box.bytes);
    moved_ += box.bytes;
    box.received.fetch_add(1, std::memory_order_release);
  }
  return true;
}

}  // namespace simt
