// From files or arrays to one batch in one pass: a region of each picture is decoded, resampled, turned round, coloured
// and written as the numbers a network takes, row by row, so that no whole picture is ever held.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/io/jpeg.h"
#include "core/io/picture_taps.h"

namespace dragon {

/// A rectangle between pixels.
struct PictureBox {
  double top = 0, left = 0, height = 0, width = 0;
};

/// One picture and what becomes of it. `bytes` are those of a JPEG file where `rows` is null.
struct PictureSample {
  std::span<const uint8_t> bytes;
  const uint8_t* rows = nullptr;  ///< the first sample of an array (height, width, channels) at strides in bytes
  int height = 0, width = 0, channels = 0;
  int64_t row_stride = 0, pixel_stride = 0, channel_stride = 0;
  PictureRegion region;  ///< what is seen; an empty one is the whole picture
  PictureBox box;        ///< what is spread over the result, in pixels of the picture; an empty one is the region
  PictureRegion place;   ///< the part of the result that is written, the rest being filled; an empty one is all of it
  bool mirror = false, upside_down = false;
  const float* matrix = nullptr;  ///< of PictureFinish
};

/// What all pictures of a batch become.
struct PictureBatch {
  int height = 0, width = 0, channels = 3;
  bool channels_first = true;
  DType dtype = DType::kFloat32;
  PictureFilter filter = PictureFilter::kBilinear;
  bool antialias = true;
  bool fast = false;  ///< whether pictures may be decoded to half, a quarter, ... of their size where more is left
  float scale[4] = {1, 1, 1, 1}, shift[4] = {};
  float fill[4] = {};  ///< the colour beside a picture that takes a part of the result only
  JpegLimits limits;

  int64_t bytes_each() const { return int64_t{height} * width * channels * ItemSize(dtype); }
};

/// Write picture b of a batch to row b of `to`. What is wrong with a picture is told in its place of the result, whose
/// other texts are empty; its row is zeros then. `library` may be null where no sample is a file.
DRAGON_API std::vector<std::string> WritePictures(const JpegLibrary* library, std::span<const PictureSample> samples,
                                                  const PictureBatch& batch, uint8_t* to, int threads);

/// A JPEG file's pixels as they are: rows of `channels` bytes a pixel, the region's size or its shrunken one.
DRAGON_API void DecodeJpeg(const JpegLibrary& library, std::span<const uint8_t> bytes, const JpegOptions& options,
                           const JpegLimits& limits, std::span<uint8_t> to);

}  // namespace dragon
