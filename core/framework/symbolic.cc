// Fitting lines through the whole numbers of two graphs, and the way back.
#include "core/framework/symbolic.h"

#include <cstring>

#include "core/framework/apply.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

bool SameNumbers(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape() || a.impl()->weak != b.impl()->weak) return false;
  if (a.is_same(b) || a.numel() == 0) return true;
  if (!a.is_contiguous() || !b.is_contiguous() || !a.device().is_cpu() || !b.device().is_cpu()) return false;
  return std::memcmp(a.data(), b.data(), a.numel() * a.item_size()) == 0;
}

bool SameConstants(const Graph& a, const Graph& b) {
  if (a.constants.size() != b.constants.size()) return false;
  for (auto i = a.constants.begin(), j = b.constants.begin(); i != a.constants.end(); ++i, ++j) {
    if (i->first != j->first || !SameNumbers(i->second, j->second)) return false;
  }
  return true;
}

bool SameSkeleton(const Graph& a, const Graph& b) {
  if (a.values.size() != b.values.size() || a.calls.size() != b.calls.size()) return false;
  if (a.inputs != b.inputs || a.outputs != b.outputs || a.updates != b.updates) return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const ValueInfo &x = a.values[i], &y = b.values[i];
    if (x.dtype != y.dtype || x.device != y.device || x.shape.size() != y.shape.size()) return false;
    if (x.strides.size() != y.strides.size()) return false;
  }
  for (size_t t = 0; t < a.calls.size(); ++t) {
    const GraphCall &x = a.calls[t], &y = b.calls[t];
    if (x.op != y.op || x.inputs != y.inputs || x.outputs != y.outputs || x.list_sizes != y.list_sizes) return false;
    if (x.attrs.size() != y.attrs.size()) return false;
  }
  return SameConstants(a, b);
}

class Unifier {
 public:
  Unifier(int64_t size_a, int64_t size_b) : size_a_(size_a), size_b_(size_b) {}

  bool Unify(ValueInfo& value, const ValueInfo& other) const {
    for (int i = 0; i < value.shape.size(); ++i) {
      if (value.shape[i] == other.shape[i]) continue;
      const auto line = FitLine(size_a_, value.shape[i], size_b_, other.shape[i]);
      if (!line) return false;
      value.symbolic.push_back({i, *line});
    }
    // Strides that follow the size would need lines of their own; batches come first, so they hardly ever do.
    return value.strides == other.strides;
  }

  bool Unify(GraphCall& call, const GraphCall& other) const {
    for (size_t i = 0; i < call.attrs.size(); ++i) {
      const Value &mine = call.attrs[i], &theirs = other.attrs[i];
      if (mine == theirs) continue;
      if (mine.kind() != theirs.kind()) return false;
      if (mine.kind() == Value::Kind::kInt) {
        if (!Add(call, i, -1, mine.integer(), theirs.integer())) return false;
      } else if (mine.kind() == Value::Kind::kInts) {
        if (mine.ints().size() != theirs.ints().size()) return false;
        for (int k = 0; k < mine.ints().size(); ++k) {
          if (mine.ints()[k] != theirs.ints()[k] && !Add(call, i, k, mine.ints()[k], theirs.ints()[k])) return false;
        }
      } else {
        return false;
      }
    }
    return true;
  }

 private:
  bool Add(GraphCall& call, size_t attr, int element, int64_t mine, int64_t theirs) const {
    const auto line = FitLine(size_a_, mine, size_b_, theirs);
    if (line) call.symbolic.push_back({static_cast<int32_t>(attr), element, *line});
    return line.has_value();
  }

  int64_t size_a_, size_b_;
};

}  // namespace

std::optional<Expression> FitLine(int64_t size_a, int64_t value_a, int64_t size_b, int64_t value_b) {
  if (value_a == value_b) return Expression{value_a, {}};
  if (size_a == size_b || (value_b - value_a) % (size_b - size_a) != 0) return std::nullopt;
  const int64_t coefficient = (value_b - value_a) / (size_b - size_a);
  return Expression{value_a - coefficient * size_a, {{0, coefficient}}};
}

std::optional<std::vector<Expression>> FitLines(int64_t size_a, const Dims& a, int64_t size_b, const Dims& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<Expression> lines;
  for (int i = 0; i < a.size(); ++i) {
    const auto line = FitLine(size_a, a[i], size_b, b[i]);
    if (!line) return std::nullopt;
    lines.push_back(*line);
  }
  return lines;
}

Dims Evaluate(const std::vector<Expression>& lines, int64_t size) {
  Dims dims;
  for (const Expression& line : lines) dims.push_back(line.Evaluate(std::span<const int64_t>(&size, 1)));
  return dims;
}

std::optional<Graph> Unify(const Graph& a, int64_t size_a, const Graph& b, int64_t size_b, const std::string& symbol) {
  if (size_a == size_b || !a.symbols.empty() || !b.symbols.empty() || !SameSkeleton(a, b)) return std::nullopt;
  const Unifier unifier(size_a, size_b);
  Graph graph = a;
  graph.symbols = {symbol};
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!unifier.Unify(graph.values[i], b.values[i])) return std::nullopt;
  }
  for (size_t t = 0; t < graph.calls.size(); ++t) {
    if (!unifier.Unify(graph.calls[t], b.calls[t])) return std::nullopt;
  }
  return graph;
}

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
  return result;
}

bool SameGraph(const Graph& a, const Graph& b) {
  if (!SameSkeleton(a, b)) return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i].shape != b.values[i].shape || a.values[i].strides != b.values[i].strides) return false;
  }
  for (size_t t = 0; t < a.calls.size(); ++t) {
    if (!(a.calls[t].attrs == b.calls[t].attrs)) return false;
  }
  return true;
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
