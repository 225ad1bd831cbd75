// A convolution takes in the bias, residual and activation behind it.
#include "core/passes/pass.h"
#include "core/passes/tails.h"

namespace dragon {
namespace {

std::optional<GraphCall> BeginConvolution(Graph& graph, const GraphCall& call) {
  if (call.op->name() != "conv_forward" || !tails::IsFast(graph, call.inputs[0])) return std::nullopt;
  GraphCall fused = call;
  fused.op = &GetOp("conv_fused");
  fused.inputs.push_back(kNoValue);
  fused.outputs.clear();
  for (const Value& value : {Value("none"), Value(0.0), Value(0.0), Value(Dims()), Value("")}) {
    fused.attrs.push_back(value);
  }
  return fused;
}

void FuseConvolution(Graph& graph) { tails::Fuse(graph, {BeginConvolution, 1}); }

DRAGON_PASS(FuseConvolution, 3, 250, "Let convolutions add biases and residuals and activate what they store.");

}  // namespace
}  // namespace dragon
