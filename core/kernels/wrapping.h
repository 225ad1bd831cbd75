// What integers of pointwise kernels are computed in.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// Integers that the stand-in of their dtype cannot hold: where their order matters they have kernels of their own.
using Largest = TypeList<uint64_t>;

/// The type integers wrap in: unsigned, and no narrower than int (where a product could overflow again).
template <typename T>
using Wrapping =
    std::conditional_t<std::is_same_v<T, bool>, unsigned, std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>;

}  // namespace dragon::DRAGON_DEVICE
