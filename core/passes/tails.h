// What follows a product and can be done while it is stored: found in graphs, and written into fused calls.
#pragma once

#include <optional>
#include <vector>

#include "core/framework/graph.h"

namespace dragon::tails {

/// How a kind of call becomes a fused one.
struct Rule {
  /// The fused call without a tail, its outputs still empty; nothing if `call` is of another kind.
  std::optional<GraphCall> (*begin)(Graph& graph, const GraphCall& call);
  int channel_axis;  ///< where the result has one number of the bias each; from the end if negative
};

/// Calls with one reader each become fused calls together with what reads them, at the place of the last.
void Fuse(Graph& graph, const Rule& rule);

/// Whether oneDNN has kernels for such numbers.
bool IsFast(const Graph& graph, ValueId value);
/// A constant, or undefined.
Tensor ConstantOf(const Graph& graph, ValueId value);
/// How often a value is read, by calls, outputs and updates.
std::vector<int> CountReaders(const Graph& graph);

}  // namespace dragon::tails
