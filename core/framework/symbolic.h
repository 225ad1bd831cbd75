// Graphs with sizes known only at run time: found by comparing graphs of the same program at several sizes, made
// concrete for a size, and evaluated call by call.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/framework/graph.h"

namespace dragon {

/// offset + coefficient * symbol 0 through two samples; none if no whole coefficient fits.
DRAGON_API std::optional<Expression> FitLine(int64_t size_a, int64_t value_a, int64_t size_b, int64_t value_b);
/// The same for each element of lists that must be equally long.
DRAGON_API std::optional<std::vector<Expression>> FitLines(int64_t size_a, const Dims& a, int64_t size_b,
                                                           const Dims& b);
DRAGON_API Dims Evaluate(const std::vector<Expression>& lines, int64_t size);

/// The graph that is `a` at one size and `b` at another, where they differ in nothing but whole numbers that follow the
/// size in a straight line. None if there is no such graph; whether a third size fits as well is for the caller to try.
DRAGON_API std::optional<Graph> Unify(const Graph& a, int64_t size_a, const Graph& b, int64_t size_b,
                                      const std::string& symbol = "batch");
/// The graph with numbers in the places of symbols.
DRAGON_API Graph Specialise(const Graph& graph, std::span<const int64_t> symbols);
/// Whether two graphs are the same calls of the same values, numbers of constants included.
DRAGON_API bool SameGraph(const Graph& a, const Graph& b);
/// What the symbols are for these inputs; a ValueError where inputs disagree.
DRAGON_API std::vector<int64_t> SolveSymbols(const Graph& graph, std::span<const Tensor> inputs);

/// The outputs of a graph, each call made at the door: recorded for gradients, and written down by who traces. Inputs
/// that the graph updates are written.
DRAGON_API std::vector<Tensor> Evaluate(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace dragon
