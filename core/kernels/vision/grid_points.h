// How a coordinate from -1 to 1 becomes places of an image: what both devices' readings at arbitrary points share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE::grid {

/// Sizes of the image from the first grid coordinate (x, the last axis) on, and how coordinates are read.
struct Space {
  int axes;
  int64_t sizes[3], steps[3];
  GridMode mode;
  GridPadding padding;
  bool align_corners;

  Space(const View& x, GridMode the_mode, GridPadding the_padding, bool align)
      : axes(x.ndim - 2), mode(the_mode), padding(the_padding), align_corners(align) {
    int64_t step = 1;
    for (int i = 0; i < axes; ++i) {
      sizes[i] = x.dim(-1 - i);
      steps[i] = step;
      step *= sizes[i];
    }
    if (step > std::numeric_limits<int32_t>::max()) {
      throw ValueError("grid_sample").Got("an image of ", step, " elements").Expected("fewer than 2**31");
    }
  }
  int64_t numel() const { return sizes[0] * sizes[1] * (axes == 3 ? sizes[2] : 1); }
  int taps_per_axis() const { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }
};

/// A number, and how it moves with the grid's coordinate.
template <typename W>
struct Moving {
  W at, slope;
};

/// Mirror at both ends of [low, low + span], as often as it takes. Where the span is 0 this is no number.
template <typename W>
DRAGON_FN Moving<W> Reflect(W at, W low, W span) {
  const W shifted = at - low, away = std::fabs(shifted), times = std::floor(away / span);
  const W rest = away - times * span;
  const bool odd = times - 2 * std::floor(times / 2) != 0;
  const W sign = shifted < 0 ? W(-1) : W(1);
  return {(odd ? span - rest : rest) + low, odd ? -sign : sign};
}

/// Clamp to [0, high]; a clamped position does not move. A NaN lands on an edge, as every comparison fails.
template <typename W>
DRAGON_FN Moving<W> Clamp(W at, W high) {
  const W least = at > 0 ? at : W(0);
  const W moves = at > 0 ? W(1) : W(0);
  return {least < high ? least : high, at < high ? moves : W(0)};
}

/// How places along one axis of so many elements are found: known while compiling, so that loops have no branches.
template <typename W, GridPadding padding, bool align_corners>
struct Reading {
  W size;

  /// From [-1, 1] to elements.
  DRAGON_FN Moving<W> Unnormalize(W coordinate) const {
    if constexpr (align_corners) return {(coordinate + 1) / 2 * (size - 1), (size - 1) / 2};
    return {((coordinate + 1) * size - 1) / 2, size / 2};
  }
  DRAGON_FN Moving<W> Pad(W at) const {
    if constexpr (padding == GridPadding::kZeros) return {at, W(1)};
    if constexpr (padding == GridPadding::kBorder) return Clamp(at, size - 1);
    const auto mirrored = align_corners ? Reflect(at, W(0), size - 1) : Reflect(at, W(-0.5), size);
    const auto clamped = Clamp(mirrored.at, size - 1);
    return {clamped.at, clamped.slope * mirrored.slope};
  }
};

/// The element at a whole position, or -1 when there is none (outside, NaN). No branches: a vector has no use for them.
template <typename W>
DRAGON_FN int32_t ElementAt(W at, W size) {
  const auto element = static_cast<int32_t>(std::min(size, std::max(W(-1), at)));
  return element < static_cast<int32_t>(size) ? element : -1;
}

/// Keys' cubic kernel with a = -0.75 at distance x, and its derivative.
template <typename W>
DRAGON_FN Moving<W> Cubic(W x) {
  constexpr W a = -0.75;
  const W sign = x < 0 ? W(-1) : W(1);
  x = std::fabs(x);
  const W near = ((a + 2) * x - (a + 3)) * x * x + 1, far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  const W steep = (3 * (a + 2) * x - 2 * (a + 3)) * x, flat = (3 * a * x - 10 * a) * x + 8 * a;
  return {x <= 1 ? near : far, sign * (x <= 1 ? steep : flat)};
}

}  // namespace dragon::DRAGON_DEVICE::grid
