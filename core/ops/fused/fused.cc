// `fused`: a graph of pointwise calls run tile by tile, so that what lies between them never goes to memory.
#include "core/framework/fusion.h"
#include "core/framework/graph_body.h"
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/tile_program.h"
#include "core/ops/fused/probe.h"

namespace dragon {
namespace {

using kernels::TileOperand;
using kernels::TileProgram;

/// The program of a body for one geometry; null where the body must run call by call.
struct Prepared : Preparation {
  std::unique_ptr<TileProgram> program;
  std::vector<Tensor> constants;  ///< inputs of the program after those of the call
};

TileOperand OperandOf(const Tensor& tensor) { return {tensor.dtype(), tensor.shape(), tensor.strides()}; }

/// What a program walks over: the shape of all that the body makes.
Dims IterationShape(const Graph& body, const std::vector<Tensor>& values) {
  Dims shape;
  for (const GraphCall& call : body.calls) {
    for (ValueId id : call.outputs) {
      if (id != kNoValue) shape = BroadcastShapes("fused", shape, values[id].shape());
    }
  }
  return shape;
}

bool SameNumber(const Tensor& a, const Tensor& b) {
  return a.numel() == 1 && b.numel() == 1 && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.item_size()) == 0;
}

class Builder {
 public:
  Builder(const Graph& body, const std::vector<Tensor>& values) : body_(body), values_(values) {}

  /// Null if some call is no loop, or makes less than the whole shape.
  std::shared_ptr<const Prepared> Build(std::span<const Tensor> outputs) {
    auto prepared = std::make_shared<Prepared>();
    const Dims shape = IterationShape(body_, values_);
    auto program = std::make_unique<TileProgram>(shape);
    numbers_.resize(body_.values.size(), -1);
    for (ValueId id : body_.inputs) numbers_[id] = program->AddInput(OperandOf(values_[id]));
    const auto constant = [&](const Tensor& tensor) {
      for (size_t k = 0; k < prepared->constants.size(); ++k) {  // a number that comes twice fills one tile
        if (SameNumber(tensor, prepared->constants[k])) return numbers_of_constants_[k];
      }
      prepared->constants.push_back(tensor);
      return numbers_of_constants_.emplace_back(program->AddInput(OperandOf(tensor)));
    };
    for (const auto& [id, tensor] : body_.constants) numbers_[id] = constant(tensor);
    for (const GraphCall& call : body_.calls) {
      const std::optional<HeardLoop> heard = HearLoop(body_, call, values_);
      if (!heard || values_[call.outputs[0]].shape() != shape) return prepared;
      std::vector<TileProgram::ValueId> inputs;
      auto number = heard->numbers.begin();
      for (int32_t input : heard->inputs) {
        inputs.push_back(input >= 0 ? numbers_[call.inputs[input]] : constant(*number++));
      }
      numbers_[call.outputs[0]] = program->AddLoop(heard->loop, heard->functor.data(), inputs, heard->dtypes.data(),
                                                   values_[call.outputs[0]].dtype());
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].shape() != shape) return prepared;
      program->AddOutput(numbers_[body_.outputs[k]], OperandOf(outputs[k]));
    }
    program->Finish();
    prepared->program = std::move(program);
    return prepared;
  }

 private:
  const Graph& body_;
  const std::vector<Tensor>& values_;
  std::vector<TileProgram::ValueId> numbers_, numbers_of_constants_;
};

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
  const Graph& body = BodyOf(i.name(), i.attr(0)).graph();
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

void RunFused(Run& r) {
  const GraphBody& holder = BodyOf(r.name(), r.attr(0));
  const Graph& body = holder.graph();
  std::vector<int64_t> key;
  InlineVector<Tensor, 4> outputs;
  for (int i = 0; i < r.x_count(); ++i) AddGeometry(r.x(i), &key);
  for (int k = 0; k < r.y_count(); ++k) {
    outputs.push_back(r.y(k));
    AddGeometry(r.y(k), &key);
  }
  if (!r.ctx().device.is_cpu()) return RunByCalls(body, r);
  const auto prepared = std::static_pointer_cast<const Prepared>(
      holder.Prepared(key, [&] { return Builder(body, InferBody(body, r.call().inputs)).Build(outputs); }));
  if (!prepared->program) return RunByCalls(body, r);
  std::vector<void*> to, from;
  for (int k = 0; k < r.y_count(); ++k) to.push_back(r.y(k).mutable_data());
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

bool IsProgram(const Graph& body) {
  std::vector<Tensor> inputs;
  for (ValueId id : body.inputs) inputs.push_back(body.Phantom(id));
  const std::vector<Tensor> values = InferBody(body, inputs);
  std::vector<Tensor> outputs;
  for (ValueId id : body.outputs) outputs.push_back(values[id]);
  return Builder(body, values).Build(outputs)->program != nullptr;
}

[[maybe_unused]] const bool entered = (Fusion() = {IsLoop, IsProgram}, true);

}  // namespace
}  // namespace dragon
