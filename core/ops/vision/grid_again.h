// The gradients of grid_sample's gradients.
#pragma once

#include "core/framework/op.h"
#include "core/kernels/vision.h"

namespace dragon {

/// How an image is read at points.
struct GridReading {
  GridMode mode;
  GridPadding padding;
  bool align_corners;
};

struct GridAgain {
  Tensor dy, x, grid;
};

/// What `to_dx` and `to_dgrid`, gradients by the results of grid_sample_backward(dy, x, grid), come to by its
/// arguments. Made of operators that have gradients themselves, so that there is no end to it.
GridAgain GridSampleAgain(const Tensor& dy, const Tensor& x, const Tensor& grid, const GridReading& reading,
                          const Tensor& to_dx, const Tensor& to_dgrid);

}  // namespace dragon
