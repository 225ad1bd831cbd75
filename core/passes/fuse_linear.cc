// A product with a matrix takes in the bias, residual and activation behind it.
#include "core/passes/pass.h"
#include "core/passes/tails.h"

namespace dragon {
namespace {

std::optional<GraphCall> BeginLinear(Graph& graph, const GraphCall& call) {
  if (call.op->name() != "linear" || !tails::IsFast(graph, call.inputs[0])) return std::nullopt;
  if (graph.values[call.inputs[1]].shape.size() != 2) return std::nullopt;
  GraphCall fused = call;
  fused.op = &GetOp("linear_fused");
  fused.inputs.push_back(kNoValue);
  fused.outputs.clear();
  fused.attrs = {Value("none"), Value(0.0), Value(0.0), Value(Dims()), Value("")};
  return fused;
}

/// Products with constant matrices are linear layers whose weights are turned.
void AsLinear(Graph& graph) {
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall& call = graph.calls[i];
    const bool sum = call.op->name() == "addmm";
    if (!sum && call.op->name() != "matmul") continue;
    const ValueId x = call.inputs[sum], y = call.inputs[sum + 1];
    const ValueInfo &info = graph.values[x], &matrix = graph.values[y];
    if (!tails::IsFast(graph, x) || matrix.shape.size() != 2 || info.shape.size() < 2) continue;
    if (!info.strides.empty() && info.shape.size() != 2) continue;  // a batch of turned matrices: matmul reads it best
    const Tensor constant = tails::ConstantOf(graph, y);
    if (!constant.defined()) continue;
    ValueId bias = kNoValue;
    if (sum) {
      const Dims& shape = graph.values[call.inputs[0]].shape;
      const bool plain = call.attr("beta").complex() == complex128(1) && call.attr("alpha").complex() == complex128(1);
      if (!plain || shape.size() != 1 || shape[0] != matrix.shape[1]) continue;
      bias = call.inputs[0];
    }
    const Tensor turned =
        constant.Detach().Alias(Dims{constant.size(1), constant.size(0)},
                                Dims{constant.strides()[1], constant.strides()[0]}, constant.offset());
    GraphCall linear = call;
    linear.op = &GetOp("linear");
    linear.inputs = {x, graph.AddConstant(turned, graph.values[y].name), bias};
    linear.attrs.clear();
    graph.calls[i] = std::move(linear);
  }
}

void FuseLinear(Graph& graph) {
  AsLinear(graph);
  tails::Fuse(graph, {BeginLinear, -1});
}

DRAGON_PASS(FuseLinear, 3, 251, "Let products with matrices add biases and residuals and activate what they store.");

}  // namespace
}  // namespace dragon
