// Compositions taken apart.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

/// The graph with every composition replaced by the operators it is made of.
DRAGON_API Graph Decompose(const Graph& graph);

}  // namespace dragon
