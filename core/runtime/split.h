// A differentiated graph in two: what the call does, and what its backward pass does later.
#pragma once

#include <vector>

#include "core/framework/trace.h"

namespace dragon {

struct SplitGraph {
  Graph forward;                ///< the call's own graph; what the backward pass reads are further outputs
  Graph backward;               ///< reads what is kept and then the gradients of the roots
  std::vector<int> kept;        ///< what `backward` reads: input of the capture (>= 0) or ~output of `forward`
  std::vector<int> grad_index;  ///< by wanted input: output of `backward`; -1: no gradient flows
};

/// Views are made again in the backward part instead of being kept, and so are constants. With `remakes`, large values
/// are as well that a few pointwise calls, or a batch norm's moments, lead to from what is kept.
SplitGraph Split(const Capture& capture, const Differentiation& whole, bool remakes);

}  // namespace dragon
