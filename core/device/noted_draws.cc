// What the random calls of a graph count from, sent before it runs; and how many streams a device's calls have.
#include "core/device/noted_draws.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "core/base/error.h"

namespace dragon {

namespace {

Accelerator& Cuda() { return AcceleratorOf(DeviceType::kCUDA); }

int64_t NumberOf(const DeviceFacts& facts, const char* name) {
  for (const auto& [key, value] : facts.numbers) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace

NotedDraws::~NotedDraws() {
  if (streams_.empty() || Cuda().IsLostToFork()) return;
  for (const Stream& stream : streams_) Cuda().Free(index_, stream.place, sizeof(stream.words));
}

/// The memory is the device's own: in the graph's pool, a kernel that runs earlier may write what is free by now.
DeviceDraw NotedDraws::Next(const RandomState* state, uint64_t used) {
  auto known = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& each) { return each.state == state; });
  if (known == streams_.end()) {
    void* const place = Cuda().Allocate(index_, sizeof(Stream::words));
    if (!place) throw MemoryError("CUDA graph").Got("no memory").Expected("room for the seeds of its random calls");
    known = streams_.insert(known, {state, place, 0, {}});
  }
  const DeviceDraw draw{0, known->used, static_cast<const uint64_t*>(known->place)};
  known->used += used;
  return draw;
}

void NotedDraws::Draw(RandomState* state) {
  for (Stream& stream : streams_) {
    if (stream.state != state) continue;
    DeviceCounter& counter = state->devices.Of(index_);
    stream.words[0] = counter.seed, stream.words[1] = counter.offset;
    counter.offset += stream.used;
  }
}

/// Copies of the host's memory are staged, so the words are this object's own again at once.
void NotedDraws::Send() const {
  for (const Stream& stream : streams_) Cuda().CopyFromHost(index_, stream.place, stream.words, sizeof(stream.words));
}

DeviceDraw PlaceOfDraw(const Context& ctx, const RandomState* state, uint64_t used) {
  if (!Cuda().IsCapturing(ctx.device.index, ctx.stream)) return {};
  if (state->noted) return state->noted->Next(state, used);
  throw RuntimeError("CUDA graph")
      .Says("Attempt to increase offset for a CUDA generator not in capture mode.")
      .Got("a random call with a generator that the graph does not know")
      .Expected("graph.register_generator_state(generator) before the capture");
}

int64_t MostStreams(int index) {
  static constexpr int64_t kBlock = 256;
  static std::array<std::atomic<int64_t>, 64> known{};  // by index, 0 where nobody asked yet
  const auto ask = [index] {
    const DeviceFacts facts = Cuda().Facts(index);
    const int64_t blocks = NumberOf(facts, "max_threads_per_multi_processor") / kBlock;
    return std::max(kBlock, NumberOf(facts, "multi_processor_count") * blocks * kBlock);
  };
  const auto place = static_cast<size_t>(index);
  if (place >= known.size()) return ask();
  int64_t most = known[place].load(std::memory_order_relaxed);
  if (most == 0) known[place].store(most = ask(), std::memory_order_relaxed);
  return most;
}

}  // namespace dragon
