// Where the pixels of a box lie along an axis of an image.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/kernels/vision.h"
#include "core/kernels/vision/rounded.h"

namespace dragon::DRAGON_DEVICE::crop {

/// Two elements with their weights, or -1 outside the image.
struct Place {
  int64_t low, high;
  float first, second;
};

/// The box's side along an axis, and how its `count` pixels are read: in single precision, which decides what is just
/// within an image.
struct Side {
  float begin, end, last, step;
  int64_t count, size;
  bool nearest;
  int order;

  DRAGON_FN Side(float the_begin, float the_end, int64_t the_count, int64_t the_size, bool is_nearest, int the_order)
      : begin(the_begin),
        end(the_end),
        last(static_cast<float>(the_size - 1)),
        step(the_count > 1 ? Rounded(the_end - the_begin, last) / static_cast<float>(the_count - 1) : 0.0f),
        count(the_count),
        size(the_size),
        nearest(is_nearest),
        order(the_order) {}

  DRAGON_FN Place At(int64_t i) const {
    const float at =
        count > 1 ? Rounded(begin, last) + Rounded(static_cast<float>(i), step) : 0.5f * (begin + end) * last;
    if (!(at >= 0 && at <= last)) return {-1, -1, 0, 0};
    if (nearest) {
      const auto rounded = static_cast<int64_t>(std::floor(at + 0.5f));
      const int64_t element = rounded < size - 1 ? rounded : size - 1;
      return {element, element, order == 0 ? 1.0f : 0.0f, 0};
    }
    const float floor = std::floor(at), part = at - floor;
    return {static_cast<int64_t>(floor), static_cast<int64_t>(std::ceil(at)), order == 0 ? 1 - part : -1,
            order == 0 ? part : 1};
  }
};

}  // namespace dragon::DRAGON_DEVICE::crop
