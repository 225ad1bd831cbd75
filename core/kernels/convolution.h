// Kernels of convolution in one to three dimensions; a transposed convolution is ConvBackwardData of its input.
#pragma once

#include "core/kernels/kernel.h"
#include "core/kernels/matmul.h"

namespace dragon {

/// The most spatial axes a window may slide over.
inline constexpr int kMaxSpatial = 3;

/// How a window slides. Padding after the last element follows from the sizes of input and output.
struct ConvGeometry {
  int spatial = 2;
  int64_t stride[kMaxSpatial] = {1, 1, 1};
  int64_t dilation[kMaxSpatial] = {1, 1, 1};
  int64_t padding[kMaxSpatial] = {0, 0, 0};
  int64_t groups = 1;
};

enum class ConvPass : int32_t { kForward, kBackwardData, kBackwardWeights };

}  // namespace dragon

namespace dragon::kernels {

/// y (N, O, out...) = activation(x (N, C, in...) * w (O, C / groups, window...) + bias (O,)). `bias` is optional.
/// Inputs may have any strides. Outputs are dense, either row-major or channels-last.
inline const Kernel<void(View y, View x, View w, View bias, const ConvGeometry& geometry, Activation activation)> Conv{
    "conv"};
/// dx = sum of w over the windows that saw it, plus an optional bias (C,). Shapes as in Conv.
inline const Kernel<void(View dx, View dy, View w, View bias, const ConvGeometry& geometry)> ConvBackwardData{
    "conv_backward_data"};
/// dw, and optionally dbias (O,).
inline const Kernel<void(View dw, View dbias, View dy, View x, const ConvGeometry& geometry)> ConvBackwardWeights{
    "conv_backward_weights"};

/// Any pass on oneDNN, x and y standing for their gradients where the pass makes those; false in `*done` if it is slow.
inline const Kernel<void(ConvPass pass, View y, View x, View w, View bias, const ConvGeometry& geometry,
                         Activation activation, bool* done)>
    ConvOneDnn{"conv_onednn"};

}  // namespace dragon::kernels
