// Attention on tensor cores, for 16-bit floats whose rows lie as the instructions want them.
#pragma once

#include "core/kernels/attention/call_cuda.h"

namespace dragon::DRAGON_DEVICE::attention {

/// Compute the call, if its dtype, sizes and strides allow; false if the general kernels have to.
template <typename T>
bool ForwardByTensorCores(Context& ctx, const Call<T>& call);
/// The same for the gradients, once `meeting` is known.
template <typename T>
bool BackwardByTensorCores(Context& ctx, const Call<T>& call);

}  // namespace dragon::DRAGON_DEVICE::attention
