// Operators without a kernel for a dtype that numbers are only kept in (IsKept) compute in that dtype's stand-in.
#pragma once

#include "core/framework/operator.h"

namespace dragon {

/// Some numbers of the call are kept in a dtype for which the operator has no kernel.
bool WantsStandIn(const Call& call, const Tensors& outputs, DeviceType device);

/// Run the operator over its arguments cast to their stand-ins, and bring results and written arguments back.
/// A NotImplementedError where uint64 holds numbers that int64 does not, unless the operator treats both alike.
void RunInStandIn(const Call& call, Context& ctx, Tensors& outputs);

/// Run the operator's kernel, in whatever dtype it has one for.
inline void RunOperator(const Call& call, Context& ctx, Tensors& outputs) {
  if (DRAGON_UNLIKELY(WantsStandIn(call, outputs, ctx.device.type))) return RunInStandIn(call, ctx, outputs);
  Run run(call, ctx, outputs);
  call.op->run(run);
}

}  // namespace dragon
