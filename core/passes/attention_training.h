// Attention that is differentiated: the formula and its gradient become the operators that never hold all the scores.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

/// Exchange them all, in a graph of which the first `*forward_calls` calls are those before the backward pass, and stay
/// that; returns how many there were.
int FindAttentionAndGradient(Graph& graph, int* forward_calls);

}  // namespace dragon
