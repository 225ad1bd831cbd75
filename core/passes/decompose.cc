// A graph is evaluated on shapes alone, while a trace writes down the calls that reach the ground floor.
#include "core/passes/decompose.h"

#include <algorithm>

#include "core/framework/graph_body.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

bool HasCompositions(const Graph& graph) {
  return std::any_of(graph.calls.begin(), graph.calls.end(), [](const GraphCall& call) {
    if (call.op->compose) return true;
    return std::any_of(call.attrs.begin(), call.attrs.end(), [](const Value& attr) {
      const auto* body = dynamic_cast<const GraphBody*>(attr.object());
      return body && HasCompositions(body->graph());
    });
  });
}

/// The same with the compositions in graphs that are arguments taken apart.
Graph WithPlainBodies(Graph graph) {
  for (GraphCall& call : graph.calls) {
    for (Value& attr : call.attrs) {
      const auto* body = dynamic_cast<const GraphBody*>(attr.object());
      if (!body || !HasCompositions(body->graph())) continue;
      attr = Value(Ref<Object>(MakeRef<GraphBody>(Decompose(body->graph()))));
    }
  }
  return graph;
}

}  // namespace

Graph Decompose(const Graph& whole) {
  if (!HasCompositions(whole)) return whole;
  const Graph graph = WithPlainBodies(whole);
  const bool composed = std::any_of(graph.calls.begin(), graph.calls.end(),
                                    [](const GraphCall& call) { return static_cast<bool>(call.op->compose); });
  if (!composed) return graph;
  Trace trace;
  std::vector<Tensor> values(graph.values.size());
  for (ValueId id : graph.inputs) {
    values[id] = graph.Phantom(id);
    trace.AddInput(values[id], graph.values[id].name);
  }
  struct Phantoms {
    ~Phantoms() { Door().phantom = false; }
  } phantoms;
  GradMode off(false);
  trace.Start();
  for (const auto& [id, tensor] : graph.constants) {
    values[id] = tensor;
    trace.AddConstant(tensor, graph.values[id].name);
  }
  Door().phantom = true;
  for (const GraphCall& call : graph.calls) {
    InlineVector<Tensor, 4> inputs;
    for (ValueId id : call.inputs) inputs.push_back(id == kNoValue ? Tensor() : values[id]);
    const std::vector<int> written = call.Written();
    for (int i : written) {  // the old value may be read later: the new one gets memory of its own
      inputs[i] = Op<"clone">(inputs[i]);
    }
    const Tensors results = Apply(Call{call.op, inputs, call.attrs, call.list_sizes});
    for (size_t k = 0; k < results.size(); ++k) {
      if (k < call.outputs.size() && call.outputs[k] != kNoValue) values[call.outputs[k]] = results[k];
    }
    for (size_t k = 0; k < written.size(); ++k) {
      const ValueId id = call.outputs[call.result_count() + k];
      if (id != kNoValue) values[id] = inputs[written[k]];
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(trace.Read(values[id]));
  std::vector<std::pair<int32_t, ValueId>> updates;
  for (const auto& [input, id] : graph.updates) updates.push_back({input, trace.Read(values[id])});
  trace.Stop();
  if (!trace.failure().empty()) throw RuntimeError("decompose").Says(trace.failure());
  Graph result = trace.graph();
  result.name = graph.name;
  result.outputs = std::move(outputs);
  result.updates = std::move(updates);
  for (size_t k = 0; k < result.outputs.size(); ++k) {
    const std::string& name = graph.values[graph.outputs[k]].name;
    if (result.values[result.outputs[k]].name.empty()) result.values[result.outputs[k]].name = name;
  }
  return result;
}

}  // namespace dragon
