// Graphs with sizes known only at run time, made concrete for a size and evaluated call by call.
#pragma once

#include <span>
#include <vector>

#include "core/framework/graph.h"

namespace dragon {

/// The graph with numbers in the places of symbols.
DRAGON_API Graph Specialise(const Graph& graph, std::span<const int64_t> symbols);
/// What the symbols are for these inputs; a ValueError where inputs disagree.
DRAGON_API std::vector<int64_t> SolveSymbols(const Graph& graph, std::span<const Tensor> inputs);

/// The outputs of a graph, each call made at the door: recorded for gradients, and written down by who traces. Inputs
/// that the graph updates are written.
DRAGON_API std::vector<Tensor> Evaluate(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace dragon
