// Constant weights are arranged once, in the blocks in which they are read fastest.
#include "core/framework/op.h"
#include "core/passes/pass.h"
#include "core/passes/tails.h"

namespace dragon {
namespace {

/// The fused call with weights packed, or nothing if that gains nothing.
struct Packed {
  Tensor weight;
  std::string layout;
};

Packed Pack(const Graph& graph, const GraphCall& call, const Tensor& weight, bool convolution) {
  const auto& attrs = call.attrs;
  const Dims& x_shape = graph.values[call.inputs[0]].shape;
  const bool bias = call.inputs[2] != kNoValue, residual = call.inputs[3] != kNoValue;
  Tensors made;
  if (convolution) {
    made = OpN<"pack_conv_weight">(weight, attrs[0].ints(), attrs[1].ints(), attrs[2].ints(), attrs[3].ints(),
                                   attrs[4].integer(), x_shape, bias, residual, attrs[5].string(), attrs[6].real(),
                                   attrs[7].real());
  } else {
    int64_t rows = 1;
    for (int axis = 0; axis + 1 < x_shape.size(); ++axis) rows *= x_shape[axis];
    made = OpN<"pack_linear_weight">(weight, rows, bias, residual, attrs[0].string(), attrs[1].real(), attrs[2].real());
  }
  return {made[0], std::string(static_cast<const char*>(made[1].data()), made[1].numel())};
}

/// conv_forward and linear without a tail, as the fused operators that take packed weights.
GraphCall AsFused(const GraphCall& call, bool convolution) {
  GraphCall fused = call;
  fused.op = &GetOp(convolution ? "conv_fused" : "linear_fused");
  fused.inputs.push_back(kNoValue);
  for (const Value& value : {Value("none"), Value(0.0), Value(0.0), Value(Dims()), Value("")}) {
    fused.attrs.push_back(value);
  }
  return fused;
}

void PackWeights(Graph& graph) {
  GradMode off(false);
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const std::string& name = graph.calls[i].op->name();
    const bool convolution = name == "conv_forward" || name == "conv_fused";
    if (!convolution && name != "linear" && name != "linear_fused") continue;
    const Tensor weight = tails::ConstantOf(graph, graph.calls[i].inputs[1]);
    if (!weight.defined() || !tails::IsFast(graph, graph.calls[i].inputs[0])) continue;
    if (!convolution && weight.ndim() != 2) continue;
    const bool fused = name == "conv_fused" || name == "linear_fused";
    GraphCall call = fused ? graph.calls[i] : AsFused(graph.calls[i], convolution);
    if (!call.attrs.back().string().empty()) continue;
    const Packed packed = Pack(graph, call, weight.Detach(), convolution);
    if (packed.layout.empty()) continue;
    const std::string weight_name = graph.values[call.inputs[1]].name;
    call.inputs[1] = graph.AddConstant(packed.weight, weight_name.empty() ? weight_name : weight_name + ".packed");
    call.attrs[call.attrs.size() - 2] = Value(weight.shape());
    call.attrs[call.attrs.size() - 1] = Value(packed.layout);
    graph.calls[i] = std::move(call);
  }
}

DRAGON_PASS(PackWeights, 3, 320,
            "Arrange constant weights in the blocks in which convolutions and products read them.");

}  // namespace
}  // namespace dragon
