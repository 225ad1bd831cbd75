// Kernels that summarise windows of the spatial axes of (N, C, spatial...) tensors of any strides.
#pragma once

#include "core/kernels/convolution.h"

namespace dragon {

/// How windows lie on the input. Adaptive ones cut each axis into as many nearly equal parts as the output has places.
struct PoolGeometry {
  int spatial = 2;
  bool adaptive = false;
  int64_t window[kMaxSpatial] = {1, 1, 1};
  int64_t stride[kMaxSpatial] = {1, 1, 1};
  int64_t dilation[kMaxSpatial] = {1, 1, 1};
  int64_t padding[kMaxSpatial] = {0, 0, 0};
  /// Averages divide by the window's size with padding, else by how many elements it saw; or by `divisor` if not 0.
  bool count_padding = true;
  int64_t divisor = 0;
};

}  // namespace dragon

namespace dragon::kernels {

/// The largest element of each window (a NaN is larger than all), and optionally its int64 place in the flat plane:
/// -1 if all of the window lies in the padding.
inline const Kernel<void(View y, View indices, View x, const PoolGeometry& geometry)> MaxPool{"max_pool"};
/// The mean of each window.
inline const Kernel<void(View y, View x, const PoolGeometry& geometry)> AveragePool{"average_pool"};
/// indices (int64) = where the largest element of each window of a random partition is, in the flat plane. samples:
/// (N, C, spatial) in [0, 1), of x's dtype and contiguous.
inline const Kernel<void(View indices, View x, View samples, const PoolGeometry& geometry)> FractionalMaxPool{
    "fractional_max_pool"};
/// dx = each window's share of dy, summed.
inline const Kernel<void(View dx, View dy, const PoolGeometry& geometry)> AveragePoolBackward{"average_pool_backward"};
/// y = 0, then x at the int64 places `indices` of each plane: added up, or (`add` false) the last one stays.
inline const Kernel<void(View y, View x, View indices, const char* who, bool add)> PlaceInPlanes{"place_in_planes"};

}  // namespace dragon::kernels
