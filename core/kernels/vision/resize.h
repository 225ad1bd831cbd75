// What resizing an image comes to: the sizes of its axes, which of them are weighed anew, and by which matrix.
#pragma once

#include "core/kernels/vision/taps.h"

namespace dragon::DRAGON_DEVICE {

inline bool CopiesOnly(ResampleMode mode) {
  return mode == ResampleMode::kNearest || mode == ResampleMode::kNearestExact || mode == ResampleMode::kNearestCenter;
}

/// Modes whose weights of bytes are whole numbers; in the others bytes are only copied, or averaged and rounded.
inline bool WeighsBytes(ResampleMode mode) {
  return !CopiesOnly(mode) && mode != ResampleMode::kArea && mode != ResampleMode::kCoverage;
}

template <typename T>
Taps<T> TapsOf(const ResampleSpec& spec, int axis, int64_t in, int64_t out) {
  if (!spec.placed) return MakeTaps<T>(spec, spec.scales[axis], in, out);
  return MakePlacedTaps<T>(spec.mode, spec.antialias, spec.scales[axis], spec.moves[axis], in, out);
}

/// Images as planes of up to three axes and what lies side by side behind these: channels that come last, or one
/// number.
struct ImageSizes {
  int axes;
  int64_t planes, in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, channels = 1;

  ImageSizes(const View& y, const View& x) : axes(x.ndim - 2), planes(x.shape[0]) {
    if (x.is_contiguous() && y.is_contiguous()) {
      planes *= x.shape[1];
    } else {
      channels = x.shape[1];
    }
    for (int i = 0; i < axes; ++i) in[3 - axes + i] = x.shape[i + 2], out[3 - axes + i] = y.shape[i + 2];
  }
  /// The image's own number of axis i of the three.
  int Own(int i) const { return i - (3 - axes); }
  /// Axes that there are not are left out; so are those of unchanged size, which nobody weighs anew.
  bool Resizes(int i, const ResampleSpec& spec) const {
    if (Own(i) < 0) return false;
    const bool interpolates = spec.mode != ResampleMode::kMitchell && spec.mode != ResampleMode::kGaussian;
    return in[i] != out[i] || spec.placed || spec.scales[Own(i)] != 0 || !interpolates;
  }
};

}  // namespace dragon::DRAGON_DEVICE
