// Pictures of 8-bit samples, resampled row by row as they are decoded: each row is made as wide as the result, then
// rows are blended, coloured and written as the numbers a network takes.
//
// Weights are integers of 22 fraction bits and each pass rounds to 8 bits, which is what Pillow does: the results are
// the same to the bit. A pixel of three or four channels takes four bytes on the way, one of one channel takes one.
#pragma once

#include <cstdint>

#include "core/kernels/kernel.h"

namespace dragon {

inline constexpr int kTapBits = 22;
/// What rows may be read and written beyond their end, so that loops need no tail.
inline constexpr int64_t kPictureSlack = 64;

/// Which samples a result is made of, along one axis: the sum of weights[i * most + k] * sample[first[i] + k] over
/// k < most, all of which there are.
struct PictureTaps {
  const int32_t *first, *weights;
  const int32_t*
      spread;  ///< each weight four times, and after the last of an odd number none: for pixels, two at a time
  int32_t most, results;
};

/// How a row of 8-bit samples becomes numbers: colours are mixed by a matrix (rows of red, green, blue, 1) and kept
/// within 0 ... 255, then each channel is scaled and shifted. Strides count elements of the result.
struct PictureFinish {
  int64_t width = 0, pixel_stride = 0, channel_stride = 0;
  int channels = 3;
  const float* matrix = nullptr;
  float scale[4] = {1, 1, 1, 1}, shift[4] = {};
};

/// What pictures may be written as.
using PictureNumbers = TypeList<uint8_t, float16, float>;

namespace kernels {

/// Make a row of `samples` bytes as wide as the taps say; `wide` is room for so many numbers
/// and a pixel more.
inline const Kernel<void(uint8_t* to, const uint8_t* from, int64_t samples, int channels, int32_t* wide,
                         const PictureTaps& taps, bool mirror)>
    PictureColumns{"picture_columns"};
/// Blend `count` rows of `samples` bytes.
inline const Kernel<void(uint8_t* to, const uint8_t* const* rows, const int32_t* weights, int count, int64_t samples)>
    PictureBlend{"picture_blend"};
/// Write a row as numbers.
inline const Kernel<void(void* to, const uint8_t* row, const PictureFinish& finish)> PictureWrite{"picture_write"};

}  // namespace kernels
}  // namespace dragon
