// Which calls may be made once more in place of keeping what they made: those that take a pass or two over memory.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

/// Smaller values are not worth a call.
inline constexpr int64_t kLeastRemadeBytes = 1 << 18;
/// Calls from what is there to what is made again: a norm and its activation. Longer ways cost more than they are
/// worth.
inline constexpr int kMostRemadeCalls = 2;

bool IsBatchNorm(const GraphCall& call);
/// One pass over memory that makes the same numbers again.
bool IsPointwiseLoop(const GraphCall& call);

/// The call that makes the same values again, to the bit: without statistics to find or to follow.
GraphCall RemakingCall(const GraphCall& call);

}  // namespace dragon
