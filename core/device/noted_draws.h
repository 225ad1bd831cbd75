// Random numbers of devices: a call is told a seed and an offset to count from, and raises the offset by what it uses.
// What is noted down for a graph is told where both will be before each run of the graph, and how far behind that
// offset it counts from.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/macros.h"
#include "core/base/mt19937.h"
#include "core/device/accelerator.h"
#include "core/device/context.h"

namespace dragon {

/// What a random kernel of a device counts from: a seed and an offset, or an offset behind one of the device's memory.
struct DeviceDraw {
  uint64_t seed = 0, offset = 0;
  const uint64_t* place = nullptr;  // where seed and offset will be
};

/// What the calls of one graph draw from.
class DRAGON_API NotedDraws {
 public:
  explicit NotedDraws(int index) : index_(index) {}
  ~NotedDraws();
  NotedDraws(const NotedDraws&) = delete;
  NotedDraws& operator=(const NotedDraws&) = delete;

  /// What the next call draws from `state`, whose offset each run raises by `used` for it.
  DeviceDraw Next(const RandomState* state, uint64_t used);
  /// Give the calls of `state` what they count from in a run. The caller holds whatever guards it.
  void Draw(RandomState* state);
  /// Send that to the device, on its current stream, without waiting.
  void Send() const;
  bool empty() const { return streams_.empty(); }

 private:
  static constexpr size_t kWords = 2;  // a seed and an offset

  struct Stream {
    const RandomState* state;
    void* place;    // in the device's memory
    uint64_t used;  // by all calls of a run
    uint64_t words[kWords];
  };

  int index_;
  std::vector<Stream> streams_;
};

/// What a call draws if the context's stream is being noted down: a place, else nullptr. A RuntimeError if the graph
/// does not know the generator.
DRAGON_API DeviceDraw PlaceOfDraw(const Context& ctx, const RandomState* state, uint64_t used);

/// PyTorch counts in blocks of four words.
inline uint64_t WholeBlocks(uint64_t used) { return (used + 3) / 4 * 4; }

/// What the next call counts from, which uses `used` words of each of its streams.
inline DeviceDraw NextDraw(const Context& ctx, RandomState* state, uint64_t used) {
  if (DRAGON_UNLIKELY(CapturesUnderWay().load(std::memory_order_relaxed) > 0)) {
    if (const DeviceDraw noted = PlaceOfDraw(ctx, state, WholeBlocks(used)); noted.place) return noted;
  }
  DeviceCounter& counter = state->devices.Of(ctx.device.index);
  const DeviceDraw draw{counter.seed, counter.offset, nullptr};
  counter.offset += WholeBlocks(used);
  return draw;
}

/// How many streams a call of a device has at most: the threads that run at once, in blocks of 256. With it the
/// numbers of large tensors are PyTorch's for the same card.
DRAGON_API int64_t MostStreams(int index);

/// How PyTorch spreads a call's n > 0 numbers over streams, each of which makes `unroll` of a block's four words:
/// number i is number i / streams of stream i % streams.
struct DrawPlan {
  int64_t streams;
  uint64_t rounds;  // blocks of each stream

  DrawPlan(int index, int64_t n, int unroll) {
    streams = (n + 255) / 256 * 256;
    if (const int64_t most = MostStreams(index); streams > most) streams = most;
    rounds = static_cast<uint64_t>((n - 1) / (streams * unroll) + 1);
  }
  uint64_t used() const { return rounds * 4; }
};

}  // namespace dragon
