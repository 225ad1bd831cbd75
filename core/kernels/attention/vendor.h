// Attention on cuDNN, for the kernels of CUDA to ask first.
#pragma once

#include "core/kernels/attention.h"

namespace dragon::DRAGON_DEVICE::attention {

/// The kernels' operands.
struct Operands {
  View q, k, v, mask, y, most, log_sum;
  View dy, dq, dk, dv;  ///< of the backward pass
};

/// Compute the call; false, with results that mean nothing, where cuDNN is not there or does not take it. It takes
/// 16-bit floats without masks, in calls that are large enough.
bool ForwardByVendor(Context& ctx, const Operands& operands, const AttentionOptions& options);
/// The same for the gradients, which are the same in every run, whoever computed the forward pass.
bool BackwardByVendor(Context& ctx, const Operands& operands, const AttentionOptions& options);

}  // namespace dragon::DRAGON_DEVICE::attention
