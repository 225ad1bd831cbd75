// From the graph of a fused call to its tile program.
#pragma once

#include <memory>
#include <vector>

#include "core/framework/fusion.h"
#include "core/framework/graph_body.h"
#include "core/kernels/tile_program.h"

namespace dragon {

/// The program of a body for one geometry; without one, the body must run call by call.
struct FusedProgram : Preparation {
  std::unique_ptr<kernels::TileProgram> program;
  std::vector<Tensor> constants;      ///< inputs of the program after those of the call
  std::vector<int32_t> output_order;  ///< the call's outputs, in the order in which the program has them
};

/// `values` are the body's values for these inputs, `outputs` what the call must fill.
std::shared_ptr<const FusedProgram> BuildFused(const Graph& body, const std::vector<Tensor>& values,
                                               std::span<const Tensor> outputs);

/// How a call reduces x, as far as tile programs can do that.
FoldForm FoldFormOf(const GraphCall& call, const Tensor& x);

}  // namespace dragon
