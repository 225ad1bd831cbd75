// At inference, a batch norm behind a convolution is other weights and another bias.
#include <optional>

#include "core/framework/op.h"
#include "core/passes/pass.h"
#include "core/passes/tails.h"

namespace dragon {
namespace {

// native_batch_norm: inputs 0 x, 1 weight, 2 bias, 3 running_mean, 4 running_var; attributes 0 training, 2 eps.

/// What was written at inference is what it was before.
void PassStatisticsOn(Graph& graph, const GraphCall& norm) {
  const std::vector<int> written = norm.Written();
  for (size_t k = 0; k < written.size(); ++k) {
    const ValueId after = norm.outputs[3 + k];
    if (after != kNoValue) graph.Replace(after, norm.inputs[written[k]]);
  }
}

Tensor InDouble(const Graph& graph, ValueId id) {
  return Op<"cast">(tails::ConstantOf(graph, id).Detach(), DType::kFloat64);
}

bool IsConstantOrNone(const Graph& graph, ValueId id) { return id == kNoValue || graph.constants.count(id); }

/// x * scale + shift, which is what the norm does, in double precision.
struct Affine {
  Tensor scale, shift;
};

std::optional<Affine> AffineOf(const Graph& graph, const GraphCall& norm) {
  for (int i = 1; i < 5; ++i) {
    if (!IsConstantOrNone(graph, norm.inputs[i])) return std::nullopt;
  }
  Tensor scale = Op<"rsqrt">(InDouble(graph, norm.input("running_var")) + norm.attr("eps").real());
  if (norm.input("weight") != kNoValue) scale = scale * InDouble(graph, norm.input("weight"));
  Tensor shift = -InDouble(graph, norm.input("running_mean")) * scale;
  if (norm.input("bias") != kNoValue) shift = shift + InDouble(graph, norm.input("bias"));
  return Affine{scale, shift};
}

/// Whether the norm of a product's result can be its weights' and bias' business.
bool TakesAffine(const Graph& graph, const GraphCall& product, const GraphCall& norm) {
  const bool linear = product.op->name() == "linear" && graph.values[product.input("weight")].shape.size() == 2 &&
                      graph.values[norm.inputs[0]].shape.size() == 2;
  if (product.op->name() != "conv_forward" && !linear) return false;
  return IsConstantOrNone(graph, product.input("weight")) && IsConstantOrNone(graph, product.input("bias"));
}

/// weight and bias of the product, scaled and moved.
void Fold(Graph& graph, GraphCall& product, const Affine& affine) {
  const DType dtype = graph.values[product.input("weight")].dtype;
  Tensor shift = affine.shift;
  if (product.input("bias") != kNoValue) shift = shift + InDouble(graph, product.input("bias")) * affine.scale;
  Dims along = Dims::Filled(graph.values[product.input("weight")].shape.size(), 1);
  along[0] = affine.scale.numel();
  const Tensor weight = InDouble(graph, product.input("weight")) * Op<"reshape">(affine.scale, along);
  const std::string name = graph.values[product.input("weight")].name;
  product.input("weight") = graph.AddConstant(Op<"cast">(weight, dtype), name.empty() ? name : name + ".folded");
  product.input("bias") = graph.AddConstant(Op<"cast">(shift, dtype));
}

/// A norm that stands by itself, as one pointwise call, which fuses with its neighbours.
void AsPointwise(Graph& graph, GraphCall& norm, const Affine& affine) {
  const ValueInfo info = graph.values[norm.inputs[0]];
  if (info.dtype != DType::kFloat32 && info.dtype != DType::kFloat64) return;
  Dims along = Dims::Filled(info.shape.size() - 1, 1);
  along[0] = affine.scale.numel();
  const auto constant = [&](const Tensor& numbers) {
    return graph.AddConstant(Op<"cast">(Op<"reshape">(numbers, along), info.dtype));
  };
  GraphCall call;
  call.op = &GetOp("addcmul");
  call.scope = norm.scope;
  call.inputs = {constant(affine.shift), norm.inputs[0], constant(affine.scale)};
  call.attrs = {Value(int64_t{1})};
  call.outputs = {norm.outputs[0]};
  if (InferCall(graph, call)[0].strides == graph.values[norm.outputs[0]].strides) norm = std::move(call);
}

void FoldBatchNorm(Graph& graph) {
  const std::vector<int> readers = tails::CountReaders(graph), producers = graph.Producers();
  GradMode off(false);
  std::vector<int> folded;
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall norm = graph.calls[i];
    if (norm.op->name() != "native_batch_norm" || norm.attr("training").boolean()) continue;
    PassStatisticsOn(graph, norm);
    const ValueId x = norm.inputs[0];
    const auto asked = [&](int k) { return norm.outputs[k] != kNoValue && readers[norm.outputs[k]] > 0; };
    if (asked(1) || asked(2) || norm.outputs[0] == kNoValue) continue;
    const std::optional<Affine> affine = AffineOf(graph, norm);
    if (!affine) continue;
    const bool alone = producers[x] < 0 || readers[x] != 1 || !TakesAffine(graph, graph.calls[producers[x]], norm);
    if (alone || graph.values[x].strides != graph.values[norm.outputs[0]].strides) {
      AsPointwise(graph, graph.calls[i], *affine);
      continue;
    }
    Fold(graph, graph.calls[producers[x]], *affine);
    graph.Replace(norm.outputs[0], x);
    folded.push_back(static_cast<int>(i));
  }
  graph.Remove(folded);
}

DRAGON_PASS(FoldBatchNorm, 3, 210, "Fold batch norms with constant statistics into the weights before them.");

}  // namespace
}  // namespace dragon
