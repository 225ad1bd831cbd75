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
  const Dims& x_shape = graph.values[call.inputs[0]].shape;
  const bool bias = call.input("bias") != kNoValue, residual = call.input("residual") != kNoValue;
  const std::string& activation = call.attr("activation").string();
  const double alpha = call.attr("alpha").real(), beta = call.attr("beta").real();
  Tensors made;
  if (convolution) {
    made = OpN<"pack_conv_weight">(weight, call.attr("size").ints(), call.attr("stride").ints(),
                                   call.attr("padding").ints(), call.attr("dilation").ints(),
                                   call.attr("groups").integer(), x_shape, bias, residual, activation, alpha, beta);
  } else {
    int64_t rows = 1;
    for (int axis = 0; axis + 1 < x_shape.size(); ++axis) rows *= x_shape[axis];
    made = OpN<"pack_linear_weight">(weight, rows, bias, residual, activation, alpha, beta);
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
    const Tensor weight = tails::ConstantOf(graph, graph.calls[i].input("weight"));
    if (!weight.defined() || !tails::IsFast(graph, graph.calls[i].inputs[0])) continue;
    if (!convolution && weight.ndim() != 2) continue;
    const bool fused = name == "conv_fused" || name == "linear_fused";
    GraphCall call = fused ? graph.calls[i] : AsFused(graph.calls[i], convolution);
    if (!call.attr("weight_layout").string().empty()) continue;
    const Packed packed = Pack(graph, call, weight.Detach(), convolution);
    if (packed.layout.empty()) continue;
    const std::string weight_name = graph.values[call.input("weight")].name;
    call.input("weight") =
        graph.AddConstant(packed.weight, weight_name.empty() ? weight_name : weight_name + ".packed");
    call.attr("weight_shape") = Value(weight.shape());
    call.attr("weight_layout") = Value(packed.layout);
    graph.calls[i] = std::move(call);
  }
}

DRAGON_PASS(PackWeights, 3, 320,
            "Arrange constant weights in the blocks in which convolutions and products read them.");

}  // namespace
}  // namespace dragon
