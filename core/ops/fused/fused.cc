// `fused`: a graph of pointwise calls run tile by tile, so that what lies between them never goes to memory.
#include "core/framework/fusion.h"
#include "core/framework/graph_body.h"
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/device_program.h"
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
    i.outputs[k].free_layout = y.impl()->free_layout.load(std::memory_order_relaxed);
  }
}

/// Numbers that the geometry of a few operands takes.
constexpr size_t kUsualKey = 64;

std::shared_ptr<const FusedProgram> Build(const Graph& body, Run& r) {
  std::vector<Tensor> outputs;
  for (int k = 0; k < r.y_count(); ++k) outputs.push_back(r.y(k));
  return BuildFused(body, InferBody(body, r.call().inputs), outputs);
}

/// The addresses of outputs and inputs as the program has them.
struct Operands {
  InlineVector<void*, 8> to, from;
  Operands(const FusedProgram& fused, Run& r) {
    for (int32_t k : fused.output_order) to.push_back(r.y(k).mutable_data());
    for (int i = 0; i < r.x_count(); ++i) from.push_back(const_cast<void*>(r.x(i).data()));
    for (const Tensor& constant : fused.constants) from.push_back(const_cast<void*>(constant.data()));
  }
};

/// Which of a program's inputs the host has.
std::vector<bool> OnHost(std::span<const Tensor> inputs, const std::vector<Tensor>& constants) {
  std::vector<bool> on_host;
  for (const Tensor& input : inputs) on_host.push_back(input.device().is_cpu());
  for (const Tensor& constant : constants) on_host.push_back(constant.device().is_cpu());
  return on_host;
}

/// A program as a kernel of a device that runs such.
struct OnDevice : Preparation {
  std::shared_ptr<const FusedProgram> fused;
  std::unique_ptr<kernels::DeviceProgram> program;

  OnDevice(const Graph& body, Run& r) : fused(Build(body, r)) {
    if (!fused->program) return;
    program = std::make_unique<kernels::DeviceProgram>(*fused->program, OnHost(r.call().inputs, fused->constants));
  }
};

void RunOnDevice(const GraphBody& holder, std::vector<int64_t> key, Run& r) {
  const Graph& body = holder.graph();
  key.push_back(static_cast<int64_t>(r.ctx().device.type));
  for (int i = 0; i < r.x_count(); ++i) key.push_back(r.x(i).device().is_cpu());
  const auto prepared = std::static_pointer_cast<const OnDevice>(
      holder.Prepared(key, [&] { return std::make_shared<const OnDevice>(body, r); }));
  if (prepared->program) {
    const Operands operands(*prepared->fused, r);
    if (prepared->program->Run(r.ctx(), operands.to.data(), operands.from.data())) return;
  }
  RunByCalls(body, r);
}

void RunFused(Run& r) {
  const GraphBody& holder = BodyOf(r.name(), r.attr("body"));
  const Graph& body = holder.graph();
  std::vector<int64_t> key;
  key.reserve(kUsualKey);
  for (int i = 0; i < r.x_count(); ++i) AddGeometry(r.x(i), &key);
  for (int k = 0; k < r.y_count(); ++k) AddGeometry(r.y(k), &key);
  if (!r.ctx().device.is_cpu()) return RunOnDevice(holder, std::move(key), r);
  const auto prepared =
      std::static_pointer_cast<const FusedProgram>(holder.Prepared(key, [&] { return Build(body, r); }));
  if (!prepared->program) return RunByCalls(body, r);
  Operands operands(*prepared, r);
  prepared->program->Run(operands.to.data(), operands.from.data());
}

[[maybe_unused]] const auto& fused =
    DefineOp("fused(Tensor[] inputs, Graph body) -> Tensor[]")
        .Doc("The outputs of a graph of pointwise operators, computed in one pass over memory.")
        .Pointwise()
        .Infers(InferFused)
        .Runs(RunFused)
        .NotDifferentiable();

bool RunsOn(Device device) { return device.is_cpu() || kernels::Generates(device); }

bool IsLoop(const Graph& graph, const GraphCall& call) {
  std::vector<Tensor> values(graph.values.size());
  for (ValueId id : call.inputs) {
    if (id != kNoValue) values[id] = graph.Phantom(id);
  }
  for (ValueId id : call.outputs) {
    if (id != kNoValue) values[id] = graph.Phantom(id);
  }
  const std::optional<HeardLoop> heard = HearLoop(graph, call, values);
  const Device device = graph.values[call.outputs[0]].device;
  return heard && (device.is_cpu() || kernels::Generates(device, heard->loop));
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
  const auto fused = BuildFused(body, values, outputs);
  if (!fused->program || outputs[0].device().is_cpu()) return fused->program != nullptr;
  return kernels::DeviceProgram(*fused->program, OnHost(inputs, fused->constants)).has_text();
} catch (const Error&) {  // shapes that do not meet
  return false;
}

[[maybe_unused]] const bool entered = (Fusion() = {RunsOn, IsLoop, Fold, IsProgram}, true);

}  // namespace
}  // namespace dragon
