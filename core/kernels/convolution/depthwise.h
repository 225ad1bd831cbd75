// Convolution of every channel by itself, by our own kernels on CUDA.
#pragma once

#include "core/kernels/convolution.h"

namespace dragon::DRAGON_DEVICE {

/// Any pass of a depthwise convolution, x and y standing for their gradients where the pass makes those, and a bias
/// that is added to the result (there is none among gradients of weights); false, and nothing written, where its form
/// is not among those that are compiled. Nothing is empty, and T, a float of at most 32 bits, is the dtype of all.
template <typename T>
bool ConvDepthwise(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
                   const ConvGeometry& geometry);

/// The pass that makes dw, of a convolution that ConvDepthwise has looked at.
template <typename T>
bool DepthwiseWeights(Context& ctx, const View& dy, const View& x, const View& dw, const ConvGeometry& geometry,
                      bool channels_last);

}  // namespace dragon::DRAGON_DEVICE
