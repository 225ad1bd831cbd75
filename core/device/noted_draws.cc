// The words of a graph's random calls, drawn and sent before it runs.
#include "core/device/noted_draws.h"

#include <algorithm>

#include "core/base/error.h"

namespace dragon {

namespace {

Accelerator& Cuda() { return AcceleratorOf(DeviceType::kCUDA); }

}  // namespace

NotedDraws::~NotedDraws() {
  if (pieces_.empty() || Cuda().IsLostToFork()) return;
  for (void* piece : pieces_) Cuda().Free(index_, piece, kPiece * sizeof(uint64_t));
}

/// The memory is the device's own: in the graph's pool, a kernel that runs earlier may write what is free by now.
const uint64_t* NotedDraws::Next(const RandomState* state) {
  const size_t call = from_.size(), place = call % kPiece;
  if (place == 0) {
    void* const piece = Cuda().Allocate(index_, kPiece * sizeof(uint64_t));
    if (!piece) throw MemoryError("CUDA graph").Got("no memory").Expected("room for the seeds of its random calls");
    pieces_.push_back(piece);
  }
  from_.push_back(state);
  return static_cast<const uint64_t*>(pieces_.back()) + place;
}

void NotedDraws::Draw(RandomState* state) {
  words_.resize(from_.size());
  for (size_t i = 0; i < from_.size(); ++i) {
    if (from_[i] == state) words_[i] = state->engine.Next64();
  }
}

/// Copies of the host's memory are staged, so the words are this object's own again at once.
void NotedDraws::Send() const {
  for (size_t first = 0; first < words_.size(); first += kPiece) {
    const size_t count = std::min(kPiece, words_.size() - first);
    Cuda().CopyFromHost(index_, pieces_[first / kPiece], words_.data() + first, count * sizeof(uint64_t));
  }
}

const uint64_t* PlaceOfDraw(const Context& ctx, const RandomState* state) {
  if (!Cuda().IsCapturing(ctx.device.index, ctx.stream)) return nullptr;
  if (state->noted) return state->noted->Next(state);
  throw RuntimeError("CUDA graph")
      .Says("Attempt to increase offset for a CUDA generator not in capture mode.")
      .Got("a random call with a generator that the graph does not know")
      .Expected("graph.register_generator_state(generator) before the capture");
}

}  // namespace dragon
