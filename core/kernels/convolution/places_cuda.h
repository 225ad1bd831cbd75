// Images on CUDA: their elements counted in the order in which they lie in memory, and where each of them is.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

#include "core/device/cuda/divide.h"
#include "core/kernels/convolution.h"

namespace dragon::DRAGON_DEVICE {

/// Steps of (N, C, depth, height, width); axes that a tensor lacks are those in front, of size 1.
struct ImageSteps {
  int64_t n = 0, c = 0, at[kMaxSpatial] = {0, 0, 0};

  ImageSteps() = default;
  explicit ImageSteps(const View& x) : n(x.strides[0]), c(x.strides[1]) {
    for (int axis = 2; axis < x.ndim; ++axis) at[kMaxSpatial - x.ndim + axis] = x.strides[axis];
  }
};

struct ImagePlace {
  int64_t n, c, at[kMaxSpatial];

  __device__ int64_t Offset(const ImageSteps& steps) const {
    return n * steps.n + c * steps.c + at[0] * steps.at[0] + at[1] * steps.at[1] + at[2] * steps.at[2];
  }
};

/// Counts through the places of an image so that neighbours in memory follow one another. The divisions that this takes
/// are those of 32 bits, unless there are too many places for that.
class ImagePlaces {
 public:
  ImagePlaces(int64_t batch, int64_t channels, const int64_t* spatial, bool channels_last)
      : channels_last_(channels_last), sizes_{batch, channels, spatial[0], spatial[1], spatial[2]} {
    if (channels_last) std::rotate(sizes_ + 1, sizes_ + 2, sizes_ + 5);
    for (const int64_t size : sizes_) numel_ *= size;
    wide_ = numel_ > std::numeric_limits<int32_t>::max();
    for (int i = 0; !wide_ && i < 5; ++i) dividers_[i] = cuda::Divider<uint32_t>(std::max<int64_t>(sizes_[i], 1));
  }
  /// Those of a tensor of any strides, channels innermost if they are neighbours in memory.
  explicit ImagePlaces(const View& x) : ImagePlaces(x.shape[0], x.shape[1], Spatial(x).at, x.strides[1] == 1) {}

  __host__ __device__ int64_t numel() const { return numel_; }
  __device__ ImagePlace operator()(int64_t i) const {
    int64_t at[5];
    if (wide_) {
#pragma unroll
      for (int axis = 4; axis > 0; --axis) at[axis] = i % sizes_[axis], i /= sizes_[axis];
      at[0] = i;
    } else {
      auto rest = static_cast<uint32_t>(i);
#pragma unroll
      for (int axis = 4; axis > 0; --axis) {
        const uint32_t outer = dividers_[axis].Divide(rest);
        at[axis] = rest - outer * dividers_[axis].divisor;
        rest = outer;
      }
      at[0] = rest;
    }
    if (channels_last_) return {at[0], at[4], {at[1], at[2], at[3]}};
    return {at[0], at[1], {at[2], at[3], at[4]}};
  }

 private:
  struct Sizes {
    int64_t at[kMaxSpatial] = {1, 1, 1};
  };
  static Sizes Spatial(const View& x) {
    Sizes sizes;
    for (int axis = 2; axis < x.ndim; ++axis) sizes.at[kMaxSpatial - x.ndim + axis] = x.shape[axis];
    return sizes;
  }

  bool channels_last_, wide_;
  cuda::Divider<uint32_t> dividers_[5];
  int64_t sizes_[5], numel_ = 1;
};

}  // namespace dragon::DRAGON_DEVICE
