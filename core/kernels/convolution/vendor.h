// Convolution on cuDNN, for the kernels of CUDA to ask first.
#pragma once

#include "core/kernels/convolution.h"

namespace dragon::DRAGON_DEVICE {

/// Any pass, x and y standing for their gradients where the pass makes those, without bias and activation; false, and
/// nothing written, where cuDNN is not there or has no deterministic way. Nothing is empty, and x's dtype is that of
/// all.
#if defined(DRAGON_SIMT)
inline bool ConvVendor(Context&, ConvPass, const View&, const View&, const View&, const ConvGeometry&) { return false; }
#else
bool ConvVendor(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w, const ConvGeometry& geometry);
#endif

}  // namespace dragon::DRAGON_DEVICE
