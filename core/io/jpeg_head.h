// What a JPEG file says of itself before its pixels, read without any library: nothing is allocated for a lie.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/macros.h"

namespace dragon {

struct JpegHead {
  int width = 0, height = 0, components = 0;
  int bits = 8;   ///< of a sample
  int frame = 0;  ///< the number of its SOF marker: 0 baseline, 1 extended, 2 progressive, 3 lossless, 9 ... arithmetic
  bool is_adobe = false;  ///< whether Adobe's segment is there, before the frame: inks are the other way round then
  int orientation = 1;    ///< as EXIF numbers them: how the picture must be turned to be upright
};

/// Read it, or throw a ValueError that says what is wrong.
DRAGON_API JpegHead ReadJpegHead(std::span<const uint8_t> bytes);

}  // namespace dragon
