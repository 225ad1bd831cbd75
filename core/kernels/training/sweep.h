// Walks many tensors as if they were one: pieces of the concatenation are handed out to threads.
#pragma once

#include <algorithm>
#include <utility>

#include "core/device/parallel.h"
#include "core/kernels/convert.h"
#include "core/kernels/training/steps.h"

namespace dragon::DRAGON_DEVICE {

/// One tensor's share of a sweep, in the type it is computed in.
template <typename W>
struct Piece {
  int64_t tensor;  // which of the set
  int64_t size;
  W* DRAGON_RESTRICT param;
  const W* DRAGON_RESTRICT grad;
  W* DRAGON_RESTRICT slot[4];
};

/// Elements of an update worth a thread: some 15 microseconds, so that a small model never waits for a thread to wake.
inline constexpr int64_t kUpdateGrain = 65536;

/// The addresses of elements `begin` and on of one tensor, for an update in place.
template <typename T>
Piece<T> PieceAt(const kernels::UpdateSet& set, int64_t tensor, int64_t begin, int64_t size) {
  const auto at = [=](void* const* array) { return array ? static_cast<T*>(array[tensor]) + begin : nullptr; };
  return {tensor,
          size,
          at(set.params),
          at(set.grads),
          {at(set.slots[0]), at(set.slots[1]), at(set.slots[2]), at(set.slots[3])}};
}

/// The same update for 16-bit floats: blocks are widened, updated and narrowed, so that update loops see one type only.
template <typename T, typename F>
void StagedUpdate(Context& ctx, const Piece<T>& piece, F& body) {
  constexpr int64_t kBlock = 1024;
  float room[6][kBlock];
  const auto& widen = kernels::kConvertTo[static_cast<int>(DType::kFloat32)];
  const auto& narrow = kernels::kConvertTo[static_cast<int>(kDTypeOf<T>)];
  for (int64_t begin = 0; begin < piece.size; begin += kBlock) {
    const int64_t size = std::min(kBlock, piece.size - begin);
    Piece<float> wide{piece.tensor, size, nullptr, nullptr, {}};
    const auto load = [&](const T* from, float* to) {
      if (!from) return static_cast<float*>(nullptr);
      widen(ctx, kDTypeOf<T>, to, from + begin, size);
      return to;
    };
    wide.param = load(piece.param, room[0]);
    wide.grad = load(piece.grad, room[1]);
    for (int i = 0; i < 4; ++i) wide.slot[i] = load(piece.slot[i], room[2 + i]);
    body(wide);
    narrow(ctx, DType::kFloat32, piece.param + begin, wide.param, size);
    for (int i = 0; i < 4; ++i) {
      if (wide.slot[i]) narrow(ctx, DType::kFloat32, piece.slot[i] + begin, wide.slot[i], size);
    }
  }
}

/// Call `body(piece)` for pieces that cover all tensors of the set.
template <typename T, typename F>
void Sweep(Context& ctx, const kernels::UpdateSet& set, F body) {
  // ends[i]: where tensor i ends in the concatenation.
  const Scratch room = ctx.Allocate<int64_t>(set.count);
  int64_t* const ends = room.as<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < set.count; ++i) ends[i] = total += set.sizes[i];
  ParallelFor(total, kUpdateGrain, [&](int64_t begin, int64_t end) {
    int64_t tensor = std::upper_bound(ends, ends + set.count, begin) - ends;
    for (; begin < end; ++tensor) {
      const int64_t start = ends[tensor] - set.sizes[tensor], size = std::min(end, ends[tensor]) - begin;
      if (size == 0) continue;
      const Piece<T> piece = PieceAt<T>(set, tensor, begin - start, size);
      if constexpr (kIsHalf<T>) {
        StagedUpdate(ctx, piece, body);
      } else {
        body(piece);
      }
      begin += size;
    }
  });
}

/// A piece's loop, in registers between loads and stores.
template <typename S, typename W, size_t... kSlot>
void StepPiece(const S& step, const typename S::Of& of, const Piece<W>& at, std::index_sequence<kSlot...>) {
  W* DRAGON_RESTRICT const param = at.param;
  const W* DRAGON_RESTRICT const grad = at.grad;
  W* const slot[] = {at.slot[SlotOf<S>(kSlot)]..., nullptr};
#pragma omp simd
  for (int64_t i = 0; i < at.size; ++i) {
    W p = param[i], states[] = {slot[kSlot][i]..., W(0)};
    step(of, p, grad[i], states);
    param[i] = p;
    ((slot[kSlot][i] = states[kSlot]), ...);
  }
}

/// Take `step` on all tensors of the set.
template <typename T, typename S>
void Steps(Context& ctx, const kernels::UpdateSet& set, const S& step) {
  Sweep<T>(ctx, set, [&](const Piece<Wide<T>>& at) {
    StepPiece(step, step.For(set, at.tensor), at, std::make_index_sequence<S::kSlots>{});
  });
}

}  // namespace dragon::DRAGON_DEVICE
