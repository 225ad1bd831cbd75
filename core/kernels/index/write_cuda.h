// Writes at computed places on CUDA, with the same result in every run. Entries (the indices) are brought in the order
// of the places that they name, and each stretch of equal places is joined in the order of its entries; long stretches
// are cut into pieces that meet afterwards. Atomics would read and write y once for every entry, and add in any order.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/kernels/index/join.h"
#include "core/kernels/index/order_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Combine;

template <typename W>
__device__ __forceinline__ W Joined(Combine combine, W a, W b) {
  switch (combine) {
    case Combine::kAdd:
      return kernels::Add<W>()(a, b);
    case Combine::kMultiply:
      return kernels::Multiply<W>()(a, b);
    case Combine::kMax:
      if constexpr (!kIsComplex<W>) return kernels::Max<W>()(a, b);
      return b;
    case Combine::kMin:
      if constexpr (!kIsComplex<W>) return kernels::Min<W>()(a, b);
      return b;
    default:
      return b;
  }
}

/// The places of y that entries may name: low + key * unit, for keys below `keys`; that key itself names no place.
struct PlaceKeys {
  int64_t low = 0, unit = 1, keys = 0;

  bool Fits(int64_t entries) const {
    return keys < std::numeric_limits<uint32_t>::max() && entries < std::numeric_limits<int32_t>::max();
  }
};

/// Entries in the order of their places. Operands of `columns`: y, src.
template <typename T>
struct OrderedWrites {
  T* y;
  const T* src;
  const uint32_t *keys, *order;
  const int64_t* sources;  ///< where in src an entry's row begins
  const Wide<T>* scales;   ///< what an entry's row is multiplied by, or null
  int64_t entries, piece, width;
  PlaceKeys places;
  Combine combine;
  Wide<T>* heads;  ///< of each piece, what belongs to a stretch that began before it
  Wide<T>* tails;  ///< of each piece, what begins a stretch that goes on behind it
  DeviceWalk<2, int64_t> columns;

  __device__ __forceinline__ Wide<T> Element(int64_t k, int64_t column) const {
    const uint32_t entry = order[k];
    const Wide<T> element = static_cast<Wide<T>>(src[sources[entry] + column]);
    if constexpr (kIsFloating<T>) {
      if (scales) return element * scales[entry];
    }
    return element;
  }
  __device__ __forceinline__ void Deliver(uint32_t key, int64_t column, Wide<T> state) const {
    T& to = y[places.low + key * places.unit + column];
    to = static_cast<T>(Joined(combine, static_cast<Wide<T>>(to), state));
  }
  __device__ bool GoesOn(int64_t end, uint32_t key) const { return end < entries && keys[end] == key; }
};

/// A thread for every column of a piece.
template <typename T>
struct JoinPiece {
  OrderedWrites<T> writes;
  __device__ void operator()(int64_t i) const {
    constexpr int kAhead = 4;
    const int64_t piece = i / writes.width;
    int64_t column[2];
    writes.columns.At(i - piece * writes.width, column);
    const int64_t begin = piece * writes.piece, end = min(writes.entries, begin + writes.piece);
    bool from_before = begin > 0 && writes.keys[begin - 1] == writes.keys[begin];
    bool has_state = false;
    uint32_t key = 0;
    Wide<T> state{};
    const auto close = [&](bool goes_on) {
      if (from_before) {
        writes.heads[i] = state;
      } else if (goes_on) {
        writes.tails[i] = state;
      } else {
        writes.Deliver(key, column[0], state);
      }
      from_before = false;
    };
    for (int64_t first = begin; first < end; first += kAhead) {
      Wide<T> elements[kAhead];
      uint32_t keys[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        keys[k] = first + k < end ? writes.keys[first + k] : static_cast<uint32_t>(writes.places.keys);
        if (keys[k] < writes.places.keys) elements[k] = writes.Element(first + k, column[1]);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (keys[k] >= writes.places.keys) continue;  // what leads nowhere stands last
        if (has_state && keys[k] != key) close(false), has_state = false;
        state = has_state ? Joined(writes.combine, state, elements[k]) : elements[k];
        key = keys[k], has_state = true;
      }
    }
    if (has_state) close(writes.GoesOn(end, key));
  }
};

/// Stretches that were cut: the thread of the piece where one begins walks on through the pieces that have the rest.
template <typename T>
struct MeetPieces {
  OrderedWrites<T> writes;
  __device__ void operator()(int64_t i) const {
    const int64_t piece = i / writes.width;
    int64_t end = min(writes.entries, (piece + 1) * writes.piece);
    const uint32_t key = writes.keys[end - 1];
    if (key >= writes.places.keys || !writes.GoesOn(end, key)) return;
    const int64_t begin = piece * writes.piece;
    if (begin > 0 && writes.keys[begin] == key && writes.keys[begin - 1] == key) return;  // it began before
    int64_t column[2];
    writes.columns.At(i - piece * writes.width, column);
    Wide<T> state = writes.tails[i];
    for (int64_t at = i; writes.GoesOn(end, key);) {
      at += writes.width;
      state = Joined(writes.combine, state, writes.heads[at]);
      end = min(writes.entries, end + writes.piece);
      if (writes.keys[end - 1] != key) break;
    }
    writes.Deliver(key, column[0], state);
  }
};

/// Join entries' rows of src to y. There is a key, a source, and perhaps a scale for each of them.
template <typename T>
void JoinOrdered(const Context& ctx, const char* who, T* y, const T* src, const uint32_t* keys, const int64_t* sources,
                 const Wide<T>* scales, int64_t entries, const PlaceKeys& places, const kernels::Walk<2>& columns,
                 Combine combine) {
  if (entries == 0 || columns.total() == 0) return;
  const Order sorted(ctx, keys, entries, static_cast<uint32_t>(places.keys));
  // A thread walks through a piece, and at worst through all pieces' heads: neither should be long.
  const int64_t piece = std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(static_cast<double>(entries)) / 4), 8, 256);
  const int64_t width = columns.total(), pieces = (entries + piece - 1) / piece;
  const Scratch ends = ctx.Allocate<Wide<T>>(2 * pieces * width);
  auto* heads = ends.template as<Wide<T>>();
  const OrderedWrites<T> writes{y,
                                src,
                                sorted.keys,
                                sorted.order,
                                sources,
                                scales,
                                entries,
                                piece,
                                width,
                                places,
                                combine,
                                heads,
                                heads + pieces * width,
                                DeviceWalk<2, int64_t>(WalkAxes<2>(columns))};
  LaunchOver(who, ctx, pieces * width, JoinPiece<T>{writes});
  if (pieces > 1) LaunchOver(who, ctx, pieces * width, MeetPieces<T>{writes});
}

}  // namespace dragon::DRAGON_DEVICE
