// Random numbers of graphs that are noted down: a call's word is not drawn when the call is noted, but before each run
// of the graph. Kernels read it in the device's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/macros.h"
#include "core/base/mt19937.h"
#include "core/device/accelerator.h"
#include "core/device/context.h"

namespace dragon {

/// The words of one graph, in the order of the calls that read them.
class DRAGON_API NotedDraws {
 public:
  explicit NotedDraws(int index) : index_(index) {}
  ~NotedDraws();
  NotedDraws(const NotedDraws&) = delete;
  NotedDraws& operator=(const NotedDraws&) = delete;

  /// Where the next call's word will be, drawn from `state`.
  const uint64_t* Next(const RandomState* state);
  /// Give the calls of `state` their words for a run. The caller holds whatever guards it.
  void Draw(RandomState* state);
  /// Send the words to the device, on its current stream, without waiting.
  void Send() const;
  bool empty() const { return from_.empty(); }

 private:
  /// Words lie in pieces, so that those of a long graph need not move.
  static constexpr size_t kPiece = 512;

  int index_;
  std::vector<const RandomState*> from_;  // by call
  std::vector<uint64_t> words_;           // by call
  std::vector<void*> pieces_;
};

/// What a random kernel of a device counts from: a word, or where it will be.
struct NotedSeed {
  uint64_t word = 0;
  const uint64_t* place = nullptr;
};

/// The place of a call's word if the context's stream is being noted down; nullptr otherwise. A RuntimeError if the
/// graph does not know the generator.
DRAGON_API const uint64_t* PlaceOfDraw(const Context& ctx, const RandomState* state);

/// The next word of a generator.
inline NotedSeed NextSeed(const Context& ctx, RandomState* state) {
  if (DRAGON_UNLIKELY(CapturesUnderWay().load(std::memory_order_relaxed) > 0)) {
    if (const uint64_t* const place = PlaceOfDraw(ctx, state)) return {0, place};
  }
  return {state->engine.Next64(), nullptr};
}

}  // namespace dragon
