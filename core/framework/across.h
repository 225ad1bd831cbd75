// Tensors from one device to another.
#pragma once

#include "core/framework/operator.h"

namespace dragon {

/// Copy all bytes of a tensor to another one on whichever device; both without gaps. The host goes on at once where
/// memory is pinned and the caller asked for that (CopiesMayBeQueued).
DRAGON_API void MoveBytes(const Tensor& from, const Tensor& to);

/// Write a tensor of another device into a destination, without waiting where both sides allow it.
void CopyAcross(const Tensor& from, const Tensor& to);

}  // namespace dragon
