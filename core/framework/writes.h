// Which calls write their arguments.
#pragma once

#include <span>

#include "core/framework/operator.h"

namespace dragon {

/// False for a call that leaves its `Tensor!` arguments as they are: a norm that is not training its statistics.
DRAGON_API bool Writes(const Operator& op, std::span<const Value> attrs);

}  // namespace dragon
