// The windows that fold and unfold slide over a plane.
#pragma once

#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

/// Windows over one (height, width) plane.
struct Windows {
  WindowSpec spec;
  int64_t height, width, rows, columns;

  Windows(const WindowSpec& the_spec, int64_t the_height, int64_t the_width)
      : spec(the_spec), height(the_height), width(the_width), rows(Count(0, height)), columns(Count(1, width)) {}
  int64_t Count(int axis, int64_t size) const {
    return (size + 2 * spec.padding[axis] - spec.dilation[axis] * (spec.size[axis] - 1) - 1) / spec.stride[axis] + 1;
  }
  int64_t count() const { return rows * columns; }
  int64_t elements() const { return spec.size[0] * spec.size[1]; }
  /// For element `e` of the windows: body(window row's first column, its image row or -1, the image column of column
  /// 0).
  template <typename Body>
  void ForRows(int64_t e, Body body) const {
    const int64_t dy = e / spec.size[1] * spec.dilation[0] - spec.padding[0];
    const int64_t dx = e % spec.size[1] * spec.dilation[1] - spec.padding[1];
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t y = row * spec.stride[0] + dy;
      body(row * columns, y >= 0 && y < height ? y : -1, dx);
    }
  }
};

}  // namespace dragon::DRAGON_DEVICE
