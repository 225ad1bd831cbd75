// The weights of resampled pixels along one axis, as Pillow computes them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/macros.h"
#include "core/kernels/vision/picture.h"

namespace dragon {

enum class PictureFilter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };

/// One axis: `out` results are spread evenly over the samples from `begin` to `end` of `in` that there are.
struct PictureAxis {
  PictureFilter filter = PictureFilter::kBilinear;
  bool antialias = true;  ///< when shrinking, whether every sample has a say
  int in = 0, out = 0;
  double begin = 0, end = 0;

  bool operator==(const PictureAxis&) const = default;
  /// Whether each result is the sample of its place.
  bool is_identity() const { return in == out && begin == 0 && end == in; }
};

struct PictureWeights {
  std::vector<int32_t> first, weights, spread;
  int32_t most = 0;

  PictureTaps taps() const {
    return {first.data(), weights.data(), spread.data(), most, static_cast<int32_t>(first.size())};
  }
};

/// The weights of an axis; those of the last axes are kept, per thread.
DRAGON_API std::shared_ptr<const PictureWeights> WeightsOf(const PictureAxis& axis);

}  // namespace dragon
