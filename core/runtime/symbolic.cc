// Numbers in the places of symbols, and calls one by one.
#include "core/runtime/symbolic.h"

#include <algorithm>

#include "core/framework/apply.h"
#include "core/framework/graph_check.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

/// How values lie in memory, says who makes them, since strides are products of sizes.
void FindStrides(Graph* graph) {
  for (const GraphCall& call : graph->calls) {
    const std::vector<ValueInfo> infos = InferCall(*graph, call);
    for (size_t k = 0; k < infos.size() && k < call.outputs.size(); ++k) {
      if (call.outputs[k] != kNoValue) graph->values[call.outputs[k]].strides = infos[k].strides;
    }
  }
}

void CheckBounds(const Graph& graph, int32_t symbol, int64_t size) {
  const SymbolBounds bounds = graph.BoundsOf(symbol);
  if (bounds.Holds(size)) return;
  throw ValueError(graph.name).Got(size, " for '", graph.symbols[symbol], "'").Expected(bounds.str());
}

}  // namespace

Graph Specialise(const Graph& graph, std::span<const int64_t> symbols) {
  if (symbols.size() != graph.symbols.size()) {
    throw ValueError("specialise").Got(symbols.size(), " sizes").Expected(graph.symbols.size());
  }
  for (size_t i = 0; i < symbols.size(); ++i) CheckBounds(graph, static_cast<int32_t>(i), symbols[i]);
  for (const Condition& condition : graph.conditions) {
    if (condition.Holds(symbols)) continue;
    throw ValueError(graph.name).Says("is for sizes of which " + condition.str(graph.symbols));
  }
  Graph result = graph;
  result.symbols.clear();
  result.bounds.clear();
  result.conditions.clear();
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
  result.Verify();  // what the operators make of these sizes is what the expressions said
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
      const int32_t symbol = line.terms.size() == 1 ? line.terms[0].lone_symbol() : -1;
      if (symbol < 0 || symbols[symbol] >= 0) continue;
      const int64_t times = inputs[i].shape()[axis] - line.offset, coefficient = line.terms[0].coefficient;
      if (times % coefficient == 0) symbols[symbol] = times / coefficient;
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
