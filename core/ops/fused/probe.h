// Finding out what an operator does to an element: it runs on a few numbers, and the loop it would run is heard
// instead.
#pragma once

#include <optional>
#include <vector>

#include "core/framework/graph.h"
#include "core/kernels/plan.h"

namespace dragon {

/// The one loop that a call comes down to.
struct HeardLoop {
  kernels::Loop loop;
  std::vector<std::max_align_t> functor;
  std::vector<int32_t> inputs;  ///< positions among the call's inputs, as the loop takes them; -1: the next number
  std::vector<Tensor> numbers;  ///< that the operator brings along
  /// The dtypes as which the operands were shown, output first: other ones of the same size where only bits matter.
  std::vector<DType> dtypes;
};

/// Shapes, strides and dtypes of a body's values for inputs of this geometry; undefined where nothing is made.
std::vector<Tensor> InferBody(const Graph& body, std::span<const Tensor> inputs);

/// The loop of a call whose values have these geometries (constants with one number: their numbers), or nothing if the
/// call is more, or other, than one loop over its elements whose functor may be kept.
std::optional<HeardLoop> HearLoop(const Graph& graph, const GraphCall& call, const std::vector<Tensor>& values);

}  // namespace dragon
