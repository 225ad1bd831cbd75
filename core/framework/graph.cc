// Editing, asking and verifying graphs.
#include "core/framework/graph.h"

#include <algorithm>
#include <sstream>

#include "core/framework/apply.h"
#include "core/framework/graph_body.h"
#include "core/framework/graph_check.h"
#include "core/framework/shapes_only.h"

namespace dragon {

void Graph::Bound(int32_t symbol, const SymbolBounds& given) {
  if (!given.is_possible()) {
    throw ValueError("graph " + name)
        .Got("'", symbols[symbol], "' of ", given.low, " to ", given.high, " by ", given.multiple)
        .Expected("sizes of which there is one");
  }
  if (bounds.size() <= static_cast<size_t>(symbol)) bounds.resize(symbol + 1);
  bounds[symbol] = given;
}

SymbolBounds Graph::BoundsOf(int32_t symbol) const {
  return static_cast<size_t>(symbol) < bounds.size() ? bounds[symbol] : SymbolBounds();
}

std::vector<int> GraphCall::Written() const {
  std::vector<int> written;
  if (!op->schema.mutates()) return written;
  int i = 0, list = 0;
  for (int slot = 0; slot < op->schema.tensor_count(); ++slot) {
    const Argument& argument = op->schema.tensor(slot);
    const int count = argument.type == ArgumentType::kTensorList ? list_sizes[list++] : 1;
    for (int k = 0; k < count; ++k, ++i) {
      if (argument.mutated && inputs[i] != kNoValue) written.push_back(i);
    }
  }
  return written;
}

int GraphCall::result_count() const { return static_cast<int>(outputs.size() - Written().size()); }

namespace {

/// Whether something holds for the operator of a call, or of one in a graph among its arguments.
template <typename Holds>
bool IsOrHas(const GraphCall& call, const Holds& holds) {
  if (holds(*call.op)) return true;
  return std::any_of(call.attrs.begin(), call.attrs.end(), [&](const Value& attr) {
    const auto* body = dynamic_cast<const GraphBody*>(attr.object());
    if (!body) return false;
    const std::vector<GraphCall>& inner = body->graph().calls;
    return std::any_of(inner.begin(), inner.end(), [&](const GraphCall& each) { return IsOrHas(each, holds); });
  });
}

}  // namespace

bool GraphCall::is_random() const {
  return IsOrHas(*this, [](const Operator& op) { return op.draws(); });
}

bool GraphCall::is_ordered() const {
  return IsOrHas(*this, [](const Operator& op) { return op.meets || op.draws(); });
}

bool GraphCall::has_body() const {
  return std::any_of(attrs.begin(), attrs.end(),
                     [](const Value& attr) { return dynamic_cast<const GraphBody*>(attr.object()) != nullptr; });
}

Tensor Graph::Phantom(ValueId id) const {
  if (const auto known = constants.find(id); known != constants.end()) return known->second;
  const ValueInfo& info = values[id];
  return Tensor::Phantom(info.shape, info.strides, info.dtype, info.device);
}

ValueInfo InfoOf(const OutputSpec& spec, Device device) {
  ValueInfo info;
  info.shape = spec.shape;
  if (!spec.strides.empty() && !IsContiguous(spec.shape, spec.strides)) info.strides = spec.strides;
  info.dtype = spec.dtype;
  info.device = device;
  return info;
}

ValueInfo InfoOf(const Tensor& tensor) {
  return InfoOf(OutputSpec{tensor.shape(), tensor.strides(), tensor.dtype()}, tensor.device());
}

namespace {

void CheckSchema(const GraphCall& call) {
  const Schema& schema = call.op->schema;
  size_t expected = 0, lists = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const Argument& argument = schema.tensor(slot);
    if (argument.type == ArgumentType::kTensorList) {
      if (lists >= call.list_sizes.size() || call.list_sizes[lists] < 0) {
        throw ValueError(schema.name()).Got(call.list_sizes.size(), " lengths of lists").Expected("one for every list");
      }
      const size_t end = expected + call.list_sizes[lists++];
      for (size_t i = expected; i < std::min(end, call.inputs.size()); ++i) {
        if (call.inputs[i] == kNoValue && !argument.optional) {
          throw ValueError(schema.name()).Got("nothing among '", argument.name, "'").Expected("values");
        }
      }
      expected = end;
      continue;
    }
    if (expected < call.inputs.size() && call.inputs[expected] == kNoValue && !argument.optional) {
      throw ValueError(schema.name()).Got("nothing for '", argument.name, "'").Expected("a value");
    }
    ++expected;
  }
  if (lists != call.list_sizes.size() || expected != call.inputs.size()) {
    throw ValueError(schema.name())
        .Got(call.inputs.size(), " inputs and ", call.list_sizes.size(), " lengths of lists")
        .Expected(expected, " inputs and ", lists, " lengths");
  }
  if (static_cast<int>(call.attrs.size()) != schema.attr_count()) {
    throw ValueError(schema.name()).Got(call.attrs.size(), " attributes").Expected(schema.attr_count());
  }
  CheckAttributes(call);
}

}  // namespace

std::vector<ValueInfo> InferCall(const Graph& graph, const GraphCall& call) {
  CheckSchema(call);
  InlineVector<Tensor, 4> inputs;
  for (ValueId id : call.inputs) inputs.push_back(id == kNoValue ? Tensor() : graph.Phantom(id));
  const Call concrete{call.op, inputs, call.attrs, call.list_sizes};
  std::vector<ValueInfo> infos;
  if (call.op->dynamic) {
    throw NotImplementedError(call.op->name())
        .Says("the shape of its result depends on numbers, so it has no place in a graph");
  }
  if (call.op->compose) {
    const ShapesOnly shapes_only;
    GradMode off(false);
    for (const Tensor& result : call.op->compose(CallReader(concrete))) infos.push_back(InfoOf(result));
  } else if (call.op->view) {
    ViewOf view(concrete);
    call.op->view(view);
    infos.push_back(InfoOf(OutputSpec{view.shape, view.strides, view.dtype}, inputs[0].device()));
  } else {
    Infer infer(concrete);
    infer.device = CommonDevice(concrete);
    call.op->infer(infer);
    for (const OutputSpec& spec : infer.outputs) infos.push_back(InfoOf(spec, infer.device));
  }
  for (int written : call.Written()) {
    ValueInfo info = graph.values[call.inputs[written]];
    info.name.clear();
    infos.push_back(info);
  }
  return infos;
}

ValueId Graph::AddValue(ValueInfo info) {
  values.push_back(std::move(info));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::AddInput(ValueInfo info) {
  inputs.push_back(AddValue(std::move(info)));
  return inputs.back();
}

ValueId Graph::AddConstant(Tensor tensor, std::string name) {
  ValueInfo info = InfoOf(tensor);
  info.name = std::move(name);
  const ValueId id = AddValue(std::move(info));
  constants.emplace(id, std::move(tensor));
  return id;
}

GraphCall& Graph::AddCall(const Operator& op, std::vector<ValueId> call_inputs, std::vector<Value> attrs,
                          std::vector<int32_t> list_sizes, int position) {
  GraphCall call;
  call.op = &op;
  call.inputs = std::move(call_inputs);
  call.attrs = std::move(attrs);
  call.list_sizes = std::move(list_sizes);
  for (ValueId id : call.inputs) {
    if (id < kNoValue || id >= static_cast<ValueId>(values.size())) {
      throw ValueError(op.name()).Got("input ", id).Expected("a value of the graph, from 0 to ", values.size() - 1);
    }
  }
  const std::vector<ValueInfo> infos = InferCall(*this, call);
  for (const ValueInfo& info : infos) call.outputs.push_back(AddValue(info));
  const auto place = position < 0 ? calls.end() : calls.begin() + std::min<size_t>(position, calls.size());
  return *calls.insert(place, std::move(call));
}

void Graph::Replace(ValueId from, ValueId to, int first_call) {
  for (size_t i = first_call; i < calls.size(); ++i) {
    std::replace(calls[i].inputs.begin(), calls[i].inputs.end(), from, to);
  }
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (auto& [input, value] : updates) {
    if (value == from) value = to;
  }
}

void Graph::Remove(const std::vector<int>& positions) {
  std::vector<char> removed(calls.size(), 0), made(values.size(), 0);
  for (int position : positions) {
    removed.at(position) = 1;
    for (ValueId id : calls[position].outputs) {
      if (id != kNoValue) made[id] = 1;
    }
  }
  for (ValueId id : inputs) made[id] = 0;  // what is fed from now on is not missed
  const auto refuse = [&](ValueId id, const std::string& reader) {
    if (id == kNoValue || !made[id]) return;
    throw RuntimeError("graph")
        .Got("a call to remove whose result %", id, " is read by ", reader)
        .Expected("no reader");
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    if (removed[i]) continue;
    for (ValueId id : calls[i].inputs) refuse(id, calls[i].op->name());
  }
  for (ValueId id : outputs) refuse(id, "the graph's outputs");
  for (const auto& [input, id] : updates) refuse(id, "the graph's updates");
  size_t kept = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!removed[i]) {
      if (kept != i) calls[kept] = std::move(calls[i]);
      ++kept;
    }
  }
  calls.resize(kept);
}

std::vector<int> Graph::Producers() const {
  std::vector<int> producers(values.size(), -1);
  for (size_t i = 0; i < calls.size(); ++i) {
    for (ValueId id : calls[i].outputs) {
      if (id != kNoValue) producers[id] = static_cast<int>(i);
    }
  }
  return producers;
}

std::vector<std::vector<int>> Graph::Consumers() const {
  std::vector<std::vector<int>> consumers(values.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    for (ValueId id : calls[i].inputs) {
      if (id == kNoValue) continue;
      if (consumers[id].empty() || consumers[id].back() != static_cast<int>(i)) consumers[id].push_back(i);
    }
  }
  return consumers;
}

int64_t Graph::Bytes(ValueId id) const {
  const ValueInfo& info = values[id];
  int64_t extent = 1;
  if (info.strides.empty()) {
    for (int64_t size : info.shape) extent *= size;
  } else {
    for (int i = 0; i < info.shape.size(); ++i) extent += (info.shape[i] - 1) * info.strides[i];
    for (int64_t size : info.shape) extent = size == 0 ? 0 : extent;
  }
  return extent * ItemSize(info.dtype);
}

ValueId Graph::Find(const std::string& wanted) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == wanted) return static_cast<ValueId>(i);
  }
  return kNoValue;
}

namespace {

std::string Type(const ValueInfo& info) {
  std::ostringstream text;
  text << Name(info.dtype) << "[";
  for (int i = 0; i < info.shape.size(); ++i) text << (i ? ", " : "") << info.shape[i];
  text << "]";
  return text.str();
}

/// A graph within a graph is told by its operators.
std::string Contents(const Object& object) {
  const auto* body = dynamic_cast<const GraphBody*>(&object);
  if (!body) return "<object>";
  std::string names;
  for (const GraphCall& call : body->graph().calls) names += (names.empty() ? "" : ", ") + call.op->name();
  return "{" + names + "}";
}

}  // namespace

namespace {

/// For which sizes a graph holds, a line for each limit.
std::string Limits(const Graph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.bounds.size(); ++i) {
    if (graph.bounds[i] == SymbolBounds()) continue;
    text += "  " + graph.symbols[i] + ": " + graph.bounds[i].str() + "\n";
  }
  for (const Condition& condition : graph.conditions) text += "  " + condition.str(graph.symbols) + "\n";
  return text;
}

}  // namespace

std::string Graph::str() const {
  std::ostringstream text;
  const auto value = [&](ValueId id) {
    if (id == kNoValue) return std::string("_");
    const std::string& given = values[id].name;
    return "%" + std::to_string(id) + (given.empty() ? "" : ":" + given);
  };
  const auto list = [&](const std::vector<ValueId>& ids, bool types) {
    std::string joined;
    for (ValueId id : ids) {
      joined += (joined.empty() ? "" : ", ") + value(id);
      if (types && id != kNoValue) joined += " " + Type(values[id]);
    }
    return joined;
  };
  text << "graph " << name << "(" << list(inputs, true) << ") {\n";
  text << Limits(*this);
  for (const auto& [id, tensor] : constants) {
    text << "  " << value(id) << " " << Type(values[id]) << " = constant";
    if (tensor.numel() == 1 && tensor.device().is_cpu()) text << " " << tensor.Detach().Item().str();
    text << "\n";
  }
  for (const GraphCall& call : calls) {
    text << "  " << list(call.outputs, true) << " = " << call.op->name() << "(";
    bool first = true;
    size_t input = 0, attr = 0, sizes = 0;
    for (const Argument& argument : call.op->schema.arguments()) {
      std::string shown;
      if (argument.type == ArgumentType::kTensorList) {
        const int count = sizes < call.list_sizes.size() ? call.list_sizes[sizes++] : 0;
        const auto begin = call.inputs.begin() + input;
        shown = "[" + list({begin, begin + count}, false) + "]";
        input += count;
      } else if (argument.is_tensor()) {
        const ValueId id = call.inputs[input++];
        if (id == kNoValue) continue;
        shown = value(id);
      } else {
        const Value& given = call.attrs[attr];
        for (const auto& symbolic : call.symbolic) {
          if (symbolic.attr == static_cast<int>(attr)) shown += "{" + symbolic.value.str(symbols) + "}";
        }
        ++attr;
        if (argument.has_default && given == argument.default_value) continue;
        if (!argument.has_default && argument.optional && given.is_none()) continue;
        shown = argument.name + "=" + (given.object() ? Contents(*given.object()) : given.str()) + shown;
      }
      text << (first ? "" : ", ") << shown;
      first = false;
    }
    text << ")";
    if (!call.scope.empty()) text << "  # " << call.scope;
    text << "\n";
  }
  for (const auto& [input, id] : updates) text << "  update " << value(inputs[input]) << " <- " << value(id) << "\n";
  text << "  return " << list(outputs, false) << "\n}";
  return text.str();
}

}  // namespace dragon
