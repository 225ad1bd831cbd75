// `fused`: a graph of pointwise calls run tile by tile, so that what lies between them never goes to memory.
#include "core/framework/fusion.h"
#include "core/framework/graph_body.h"
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/ops/fused/build.h"
#include "core/ops/fused/probe.h"

namespace dragon {
namespace {

void AddGeometry(const Tensor& tensor, std::vector<int64_t>* key) {
  key->push_back(static_cast<int64_t>(tensor.dtype()));
  key->insert(key->end(), tensor.shape().begin(), tensor.shape().end());
  key->insert(key->end(), tensor.strides().begin(), tensor.strides().end());
  key->push_back(-1);
}

/// The body call by call, for devices and bodies that have no tile program.
void RunByCalls(const Graph& body, Run& r) {
  std::vector<Tensor> values(body.values.size());
  for (int i = 0; i < r.x_count(); ++i) values[body.inputs[i]] = r.x(i);
  for (const auto& [id, tensor] : body.constants) values[id] = tensor;
  for (const GraphCall& call : body.calls) {
    InlineVector<Tensor, 4> inputs;
    for (ValueId id : call.inputs) inputs.push_back(id == kNoValue ? Tensor() : values[id]);
    const Tensors results = Apply(Call{call.op, inputs, call.attrs, call.list_sizes});
    for (size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.outputs[k] != kNoValue) values[call.outputs[k]] = results[k];
    }
  }
  for (int k = 0; k < r.y_count(); ++k) OpInto<"copy">(r.y(k), values[body.outputs[k]]);
}

void CheckInputs(const CallReader& c, const Graph& body) {
  if (c.x_count() != static_cast<int>(body.inputs.size())) {
    throw ValueError(c.name()).Got(c.x_count(), " inputs").Expected(body.inputs.size(), " for the body");
  }
  for (int i = 0; i < c.x_count(); ++i) {
    const DType expected = body.values[body.inputs[i]].dtype;
    if (c.x(i).dtype() == expected) continue;
    throw TypeError(c.name()).Got("input ", i, " of ", c.x(i).dtype()).Expected(expected);
  }
}

void InferFused(Infer& i) {
  const Graph& body = BodyOf(i.name(), i.attr("body")).graph();
  CheckInputs(i, body);
  const std::vector<Tensor> values = InferBody(body, i.call().inputs);
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    const Tensor& y = values[body.outputs[k]];
    const int at = static_cast<int>(k);
    i.y(at, y.shape(), y.dtype());
    if (!y.is_contiguous()) i.outputs[k].strides = y.strides();
    i.outputs[k].free_layout = y.impl()->free_layout;
  }
}

/// Numbers that the geometry of a few operands takes.
constexpr size_t kUsualKey = 64;

void RunFused(Run& r) {
  const GraphBody& holder = BodyOf(r.name(), r.attr("body"));
  const Graph& body = holder.graph();
  std::vector<int64_t> key;
  key.reserve(kUsualKey);
  for (int i = 0; i < r.x_count(); ++i) AddGeometry(r.x(i), &key);
  for (int k = 0; k < r.y_count(); ++k) AddGeometry(r.y(k), &key);
  if (!r.ctx().device.is_cpu()) return RunByCalls(body, r);
  const auto prepared = std::static_pointer_cast<const FusedProgram>(holder.Prepared(key, [&] {
    std::vector<Tensor> outputs;
    for (int k = 0; k < r.y_count(); ++k) outputs.push_back(r.y(k));
    return BuildFused(body, InferBody(body, r.call().inputs), outputs);
  }));
  if (!prepared->program) return RunByCalls(body, r);
  InlineVector<void*, 8> to, from;
  for (int32_t k : prepared->output_order) to.push_back(r.y(k).mutable_data());
  for (int i = 0; i < r.x_count(); ++i) from.push_back(const_cast<void*>(r.x(i).data()));
  for (const Tensor& constant : prepared->constants) from.push_back(const_cast<void*>(constant.data()));
  prepared->program->Run(to.data(), from.data());
}

[[maybe_unused]] const auto& fused =
    DefineOp("fused(Tensor[] inputs, Graph body) -> Tensor[]")
        .Doc("The outputs of a graph of pointwise operators, computed in one pass over memory.")
        .Pointwise()
        .Infers(InferFused)
        .Runs(RunFused)
        .NotDifferentiable();

bool IsLoop(const Graph& graph, const GraphCall& call) {
  std::vector<Tensor> values(graph.values.size());
  for (ValueId id : call.inputs) {
    if (id != kNoValue) values[id] = graph.Phantom(id);
  }
  for (ValueId id : call.outputs) {
    if (id != kNoValue) values[id] = graph.Phantom(id);
  }
  return HearLoop(graph, call, values).has_value();
}

FoldForm Fold(const Graph& graph, const GraphCall& call) {
  return call.inputs.size() == 1 ? FoldFormOf(call, graph.Phantom(call.inputs[0])) : FoldForm{};
}

bool IsProgram(const Graph& body) try {
  std::vector<Tensor> inputs;
  for (ValueId id : body.inputs) inputs.push_back(body.Phantom(id));
  const std::vector<Tensor> values = InferBody(body, inputs);
  std::vector<Tensor> outputs;
  for (ValueId id : body.outputs) outputs.push_back(values[id]);
  return BuildFused(body, values, outputs)->program != nullptr;
} catch (const Error&) {  // shapes that do not meet
  return false;
}

[[maybe_unused]] const bool entered = (Fusion() = {IsLoop, Fold, IsProgram}, true);

}  // namespace
}  // namespace dragon
