// Numbers in the places of symbols, and calls one by one.
#include "core/runtime/symbolic.h"

#include <algorithm>

#include "core/framework/apply.h"
#include "core/framework/graph_check.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

/// Values that do not lie in row-major order: how, says who makes them, since strides are products of sizes.
void FindStrides(Graph* graph) {
  for (const GraphCall& call : graph->calls) {
    const auto strided = [&](ValueId id) { return id != kNoValue && !graph->values[id].strides.empty(); };
    if (std::none_of(call.outputs.begin(), call.outputs.end(), strided)) continue;
    const std::vector<ValueInfo> infos = InferCall(*graph, call);
    for (size_t k = 0; k < infos.size() && k < call.outputs.size(); ++k) {
      if (strided(call.outputs[k])) graph->values[call.outputs[k]].strides = infos[k].strides;
    }
  }
}

}  // namespace

Graph Specialise(const Graph& graph, std::span<const int64_t> symbols) {
  if (symbols.size() != graph.symbols.size()) {
    throw ValueError("specialise").Got(symbols.size(), " sizes").Expected(graph.symbols.size());
  }
  Graph result = graph;
  result.symbols.clear();
  for (ValueInfo& value : result.values) {
    for (const auto& [axis, line] : value.symbolic) value.shape[axis] = line.Evaluate(symbols);
    value.symbolic.clear();
  }
  for (GraphCall& call : result.calls) {
    for (const auto& symbolic : call.symbolic) {
      Value& attr = call.attrs[symbolic.attr];
      const int64_t number = symbolic.value.Evaluate(symbols);
      if (symbolic.element < 0) {
        attr = Value(number);
      } else {
        Dims ints = attr.ints();
        ints[symbolic.element] = number;
        attr = Value(std::move(ints));
      }
    }
    call.symbolic.clear();
  }
  FindStrides(&result);
  return result;
}

std::vector<int64_t> SolveSymbols(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw ValueError(graph.name).Got(inputs.size(), " inputs").Expected(graph.inputs.size());
  }
  std::vector<int64_t> symbols(graph.symbols.size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = graph.values[graph.inputs[i]];
    if (inputs[i].ndim() != info.shape.size() || inputs[i].dtype() != info.dtype) {
      throw ValueError(graph.name)
          .Got(Name(inputs[i].dtype()), " ", inputs[i].shape(), " for input ", i)
          .Expected(Name(info.dtype), " ", info.shape);
    }
    for (const auto& [axis, line] : info.symbolic) {
      if (line.terms.size() != 1) continue;
      const auto [symbol, coefficient] = line.terms[0];
      const int64_t times = inputs[i].shape()[axis] - line.offset;
      if (times % coefficient == 0 && symbols[symbol] < 0) symbols[symbol] = times / coefficient;
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Dims shape = graph.values[graph.inputs[i]].shape;
    for (const auto& [axis, line] : graph.values[graph.inputs[i]].symbolic) shape[axis] = line.Evaluate(symbols);
    if (shape == inputs[i].shape()) continue;
    throw ValueError(graph.name).Got(inputs[i].shape(), " for input ", i).Expected(shape);
  }
  return symbols;
}

std::vector<Tensor> Evaluate(const Graph& symbolic, std::span<const Tensor> inputs) {
  const std::vector<int64_t> symbols = SolveSymbols(symbolic, inputs);
  const Graph concrete = symbols.empty() ? Graph() : Specialise(symbolic, symbols);
  const Graph& graph = symbols.empty() ? symbolic : concrete;
  std::vector<Tensor> values(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (const auto& [id, tensor] : graph.constants) {
    values[id] = tensor;
    if (Door().tracer) Door().tracer->Made(tensor);
  }
  for (const GraphCall& call : graph.calls) {
    std::vector<Tensor> arguments;
    for (ValueId id : call.inputs) arguments.push_back(id == kNoValue ? Tensor() : values[id]);
    const std::vector<int> written = call.Written();
    for (int i : written) arguments[i] = Op<"clone">(arguments[i]);  // the old value may be read later
    const Tensors results = Apply(Call{call.op, arguments, call.attrs, call.list_sizes});
    for (size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.outputs[k] == kNoValue) continue;
      values[call.outputs[k]] = k < results.size() ? results[k] : arguments[written[k - results.size()]];
    }
  }
  for (const auto& [input, id] : graph.updates) {
    if (!values[id].is_same(inputs[input])) OpInto<"copy">(inputs[input], values[id]);
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

}  // namespace dragon
