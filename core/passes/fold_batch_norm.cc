// At inference, a batch norm behind a convolution is other weights and another bias.
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

/// weight and bias of the product, scaled and moved as the norm would do it.
bool Fold(Graph& graph, GraphCall& product, const GraphCall& norm) {
  const bool convolution = product.op->name() == "conv_forward";
  const bool linear = product.op->name() == "linear" && graph.values[product.inputs[1]].shape.size() == 2 &&
                      graph.values[norm.inputs[0]].shape.size() == 2;
  if (!convolution && !linear) return false;
  for (int i = 1; i < 5; ++i) {
    if (!IsConstantOrNone(graph, norm.inputs[i])) return false;
  }
  for (int i = 1; i < 3; ++i) {
    if (!IsConstantOrNone(graph, product.inputs[i])) return false;
  }
  const DType dtype = graph.values[product.inputs[1]].dtype;
  Tensor scale = Op<"rsqrt">(InDouble(graph, norm.inputs[4]) + norm.attrs[2].real());
  if (norm.inputs[1] != kNoValue) scale = scale * InDouble(graph, norm.inputs[1]);
  Tensor shift = -InDouble(graph, norm.inputs[3]);
  if (product.inputs[2] != kNoValue) shift = shift + InDouble(graph, product.inputs[2]);
  shift = shift * scale;
  if (norm.inputs[2] != kNoValue) shift = shift + InDouble(graph, norm.inputs[2]);
  Dims along = Dims::Filled(graph.values[product.inputs[1]].shape.size(), 1);
  along[0] = scale.numel();
  const Tensor weight = InDouble(graph, product.inputs[1]) * Op<"reshape">(scale, along);
  const std::string name = graph.values[product.inputs[1]].name;
  product.inputs[1] = graph.AddConstant(Op<"cast">(weight, dtype), name.empty() ? name : name + ".folded");
  product.inputs[2] = graph.AddConstant(Op<"cast">(shift, dtype));
  return true;
}

void FoldBatchNorm(Graph& graph) {
  const std::vector<int> readers = tails::CountReaders(graph), producers = graph.Producers();
  GradMode off(false);
  std::vector<int> folded;
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall norm = graph.calls[i];
    if (norm.op->name() != "native_batch_norm" || norm.attrs[0].boolean()) continue;
    PassStatisticsOn(graph, norm);
    const ValueId x = norm.inputs[0];
    const auto asked = [&](int result) {
      return norm.outputs[result] != kNoValue && readers[norm.outputs[result]] > 0;
    };
    if (producers[x] < 0 || readers[x] != 1 || asked(1) || asked(2) || norm.outputs[0] == kNoValue) continue;
    if (graph.values[x].strides != graph.values[norm.outputs[0]].strides) continue;
    if (!Fold(graph, graph.calls[producers[x]], norm)) continue;
    graph.Replace(norm.outputs[0], x);
    folded.push_back(static_cast<int>(i));
  }
  graph.Remove(folded);
}

DRAGON_PASS(FoldBatchNorm, 3, 210, "Fold batch norms with constant statistics into the weights before them.");

}  // namespace
}  // namespace dragon
