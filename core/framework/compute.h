// The ground floor of the door, and its lower half: infer, allocate, run, without any knowledge of gradients.
#pragma once

#include "core/framework/apply.h"

namespace dragon {

/// The one result of a call that views its first input.
Tensors MakeView(const Call& call);
/// The results of a call, in `outs` where these are given. `computed`: where results that were then copied into a
/// destination, perhaps of another dtype, are wanted as they were made.
Tensors Compute(const Call& call, std::span<const Tensor> outs, DoorState& door, Tensors* computed = nullptr);
/// Count the writes of a call to its destinations and to arguments that it writes.
void BumpVersions(const Call& call, std::span<const Tensor> outs);

/// An error unless a result of this shape and dtype may be written into `out`.
void CheckDestination(const Call& call, const Dims& shape, DType dtype, const Tensor& out);
/// Give a destination that CheckDestination has let pass the result's shape. Other views of its old memory, and who
/// borrowed it, keep that.
void Resize(const Call& call, const Dims& shape, const Tensor& out);

/// What stands below all interpreters: promote, record, compute. Told in autograd/record.cc.
Tensors Ground(const Call& call, std::span<const Tensor> outs, DoorState& door);

}  // namespace dragon
