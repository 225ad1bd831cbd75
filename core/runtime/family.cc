// What the numbers of a capture are at several sizes, and what they follow.
#include "core/runtime/family.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "core/framework/op.h"
#include "core/runtime/fit.h"

namespace dragon {

namespace {

/// Called for every number of a capture that may follow the size, in one fixed order; and for where it stands.
using Visitor = std::function<void(int64_t&, const std::string& place)>;

void VisitDims(Dims& dims, const std::string& place, const Visitor& visit) {
  for (int64_t& size : dims) visit(size, place);
}

void VisitOutput(CapturedOutput& output, const Visitor& visit) {
  VisitDims(output.shape, "the shape of a result", visit);
  VisitDims(output.strides, "the strides of a result", visit);
  visit(output.offset, "the offset of a result");
}

/// A constant that stands for one number: a size that the program computed with.
bool IsWholeNumber(const Tensor& tensor) {
  if (tensor.ndim() != 0 || !tensor.device().is_cpu() || tensor.is_complex() || tensor.dtype() == DType::kBool) {
    return false;
  }
  const double number = tensor.Detach().Item().real();
  return std::abs(number) < 1e15 && number == std::floor(number);
}

void VisitConstant(Tensor& tensor, const Visitor& visit) {
  if (!IsWholeNumber(tensor)) return;
  const auto number = static_cast<int64_t>(tensor.Detach().Item().real());
  int64_t changed = number;
  visit(changed, "a constant");
  if (changed == number) return;
  const bool weak = tensor.impl()->weak;
  tensor = Tensor::Scalar(Value(static_cast<double>(changed)), tensor.dtype());
  tensor.impl()->weak = weak;
}

void VisitGraph(Graph& graph, const Visitor& visit) {
  for (ValueInfo& info : graph.values) {
    VisitDims(info.shape, "the shape of a value", visit);
    VisitDims(info.strides, "the strides of a value", visit);
  }
  for (auto& [id, tensor] : graph.constants) VisitConstant(tensor, visit);
  for (GraphCall& call : graph.calls) {
    for (size_t i = 0; i < call.attrs.size(); ++i) {
      Value& attr = call.attrs[i];
      const std::string place = call.op->name() + ": " + call.op->schema.attr(static_cast<int>(i)).name;
      if (attr.kind() == Value::Kind::kInt) {
        int64_t number = attr.integer();
        visit(number, place);
        if (number != attr.integer()) attr = Value(number);
      } else if (attr.kind() == Value::Kind::kInts) {
        Dims dims = attr.ints();
        VisitDims(dims, place, visit);
        if (dims != attr.ints()) attr = Value(std::move(dims));
      }
    }
  }
}

void VisitNumbers(Capture& capture, const Visitor& visit) {
  VisitGraph(capture.graph, visit);
  for (CapturedOutput& output : capture.outputs) VisitOutput(output, visit);
  for (CapturedGradient& gradient : capture.gradients) VisitOutput(gradient.output, visit);
  VisitGraph(capture.backward.graph, visit);
}

[[noreturn]] void Differ(const std::string& what) {
  throw ValueError("sizes").Got(what, " that changes with sizes").Expected("the same calls at every size");
}

bool SameConstant(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.ndim() != b.ndim()) return false;
  if (IsWholeNumber(a) && IsWholeNumber(b)) return true;
  if (a.shape() != b.shape() || a.strides() != b.strides()) return false;
  if (a.is_same(b) || a.numel() == 0) return true;
  return a.is_contiguous() && a.device().is_cpu() && std::memcmp(a.data(), b.data(), a.numel() * a.item_size()) == 0;
}

/// Everything but the numbers. `placed`: whether values lie in memory alike.
void CheckAlike(const Graph& a, const Graph& b, bool placed) {
  if (a.symbols != b.symbols) Differ("a set of symbols");
  if (a.calls.size() != b.calls.size() || a.values.size() != b.values.size()) Differ("a number of calls");
  if (a.inputs != b.inputs || a.outputs != b.outputs || a.updates != b.updates) Differ("a set of inputs or results");
  for (size_t i = 0; i < a.values.size(); ++i) {
    const ValueInfo &one = a.values[i], &other = b.values[i];
    if (one.dtype != other.dtype || one.device != other.device || one.shape.size() != other.shape.size() ||
        (placed && one.strides.size() != other.strides.size())) {
      Differ("a value's form");
    }
  }
  if (a.constants.size() != b.constants.size()) Differ("a number of constants");
  for (auto one = a.constants.begin(), other = b.constants.begin(); one != a.constants.end(); ++one, ++other) {
    if (one->first != other->first || !SameConstant(one->second, other->second)) Differ("a constant");
  }
  for (size_t i = 0; i < a.calls.size(); ++i) {
    const GraphCall &one = a.calls[i], &other = b.calls[i];
    if (one.op != other.op || one.inputs != other.inputs || one.outputs != other.outputs ||
        one.list_sizes != other.list_sizes || one.attrs.size() != other.attrs.size()) {
      Differ("call " + std::to_string(i) + " (" + one.op->name() + ")");
    }
    for (size_t k = 0; k < one.attrs.size(); ++k) {
      // What is asked for anew before each run may have changed in between.
      const auto at = [&](const GraphCall::Symbolic& symbolic) { return symbolic.attr == static_cast<int>(k); };
      if (std::any_of(one.symbolic.begin(), one.symbolic.end(), at) &&
          std::any_of(other.symbolic.begin(), other.symbolic.end(), at)) {
        continue;
      }
      const Value &mine = one.attrs[k], &theirs = other.attrs[k];
      const bool ints = mine.kind() == Value::Kind::kInts && theirs.kind() == mine.kind() &&
                        mine.ints().size() == theirs.ints().size();
      const bool ints_or_int = ints || (mine.kind() == Value::Kind::kInt && theirs.kind() == mine.kind());
      if (!ints_or_int && !(mine == theirs)) Differ(one.op->name() + ": " + one.op->schema.attr(k).name);
    }
  }
}

void CheckAlike(const Capture& a, const Capture& b, bool placed) {
  CheckAlike(a.graph, b.graph, placed);
  CheckAlike(a.backward.graph, b.backward.graph, placed);
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size() ||
      a.gradients.size() != b.gradients.size() || a.backward.roots != b.backward.roots ||
      a.backward.wanted != b.backward.wanted || a.backward.grads != b.backward.grads ||
      a.backward.forward_calls != b.backward.forward_calls || a.backward.spent.size() != b.backward.spent.size() ||
      a.backward.reaches != b.backward.reaches || a.backward.spent_reaches != b.backward.spent_reaches) {
    Differ("a set of inputs, results or gradients");
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const CapturedInput &one = a.inputs[i], &other = b.inputs[i];
    const bool given = one.source == CapturedInput::Source::kArgument || one.argument >= 0;
    if (one.source != other.source || one.argument != other.argument ||
        (!given && !one.tensor.is_same(other.tensor) && one.tensor.impl()->storage != other.tensor.impl()->storage)) {
      Differ("a tensor from outside");
    }
  }
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const CapturedOutput &one = a.outputs[i], &other = b.outputs[i];
    if (one.kind != other.kind || one.index != other.index || one.dtype != other.dtype ||
        one.requires_grad != other.requires_grad || one.shape.size() != other.shape.size()) {
      Differ("a result");
    }
  }
  for (size_t i = 0; i < a.gradients.size(); ++i) {
    const CapturedGradient &one = a.gradients[i], &other = b.gradients[i];
    if (!(one.argument >= 0 ? one.argument == other.argument : one.leaf.is_same(other.leaf)) ||
        one.written != other.written || one.is_none != other.is_none || one.output.index != other.output.index ||
        one.output.kind != other.output.kind || one.output.shape.size() != other.output.shape.size()) {
      Differ("a gradient");
    }
  }
}

/// Notes numbers, and where they stand.
Visitor Noting(std::vector<int64_t>* numbers, std::vector<std::string>* places) {
  return [=](int64_t& number, const std::string& place) {
    numbers->push_back(number);
    if (places) places->push_back(place);
  };
}

std::vector<int64_t> NumbersOf(Capture capture, std::vector<std::string>* places) {
  std::vector<int64_t> numbers;
  VisitNumbers(capture, Noting(&numbers, places));
  return numbers;
}

}  // namespace

std::string Unlikeness(const Capture& one, const Capture& other, bool placed) {
  try {
    CheckAlike(one, other, placed);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string Difference(const Capture& one, const Capture& other) {
  if (std::string unlike = Unlikeness(one, other, true); !unlike.empty()) return unlike;
  std::vector<std::string> places;
  const std::vector<int64_t> mine = NumbersOf(one, &places), others = NumbersOf(other, nullptr);
  for (size_t i = 0; i < mine.size() && i < others.size(); ++i) {
    if (mine[i] != others[i]) return places[i] + " is " + std::to_string(mine[i]) + " and " + std::to_string(others[i]);
  }
  return mine.size() == others.size() ? "" : "a number of sizes";
}

namespace {

/// The sizes of one capture; of the base, of those that differ from it in one size each, and of the rest.
using Samples = std::vector<std::vector<int64_t>>;

void CheckSamples(const Samples& sizes, size_t captures, size_t symbols) {
  if (captures != sizes.size()) throw ValueError("sizes").Got(sizes.size(), " sets").Expected(captures);
  if (symbols == 0 || captures < symbols + 2) {
    throw ValueError("sizes").Got(captures, " captures for ", symbols, " symbols").Expected("two more than symbols");
  }
  for (size_t i = 0; i < captures; ++i) {
    if (sizes[i].size() != symbols) throw ValueError("sizes").Got(sizes[i].size(), " sizes").Expected(symbols);
    for (size_t k = 0; k < symbols && i >= 1 && i <= symbols; ++k) {
      if ((sizes[i][k] != sizes[0][k]) != (k + 1 == i)) {
        throw ValueError("sizes").Got("set ", i).Expected("one that differs from the first in size ", i - 1, " alone");
      }
    }
  }
}

/// Puts expressions where a graph's numbers are, in the order in which `NumbersOf` tells them.
class Following {
 public:
  Following(Graph* graph, std::vector<Expression> expressions) : graph_(graph), expressions_(std::move(expressions)) {}

  void Fill() {
    for (ValueInfo& info : graph_->values) {
      for (int axis = 0; axis < info.shape.size(); ++axis) {
        if (const Expression& size = Next(); !size.is_constant()) info.symbolic.push_back({axis, size});
      }
    }
    std::vector<GraphCall> made;
    for (const auto& [id, tensor] : graph_->constants) {
      if (!IsWholeNumber(tensor)) continue;
      if (const Expression& number = Next(); !number.is_constant()) made.push_back(Made(id, tensor, number));
    }
    for (GraphCall& call : graph_->calls) FillCall(&call);
    for (const GraphCall& call : made) graph_->constants.erase(call.outputs[0]);
    graph_->calls.insert(graph_->calls.begin(), made.begin(), made.end());
  }

 private:
  const Expression& Next() { return expressions_[next_++]; }

  /// What makes a number that follows sizes, in the place of the constant that it was.
  static GraphCall Made(ValueId id, const Tensor& tensor, const Expression& number) {
    GraphCall call;
    call.op = &OpNamed<"full">();
    call.attrs = {Value(Dims()), tensor.Detach().Item(), Value(tensor.dtype()), Value(tensor.device())};
    call.outputs = {id};
    call.symbolic = {{1, -1, number}};
    return call;
  }

  void FillCall(GraphCall* call) {
    for (size_t i = 0; i < call->attrs.size(); ++i) {
      const Value& attr = call->attrs[i];
      const bool list = attr.kind() == Value::Kind::kInts;
      const int count = list ? attr.ints().size() : attr.kind() == Value::Kind::kInt ? 1 : 0;
      for (int element = 0; element < count; ++element) {
        const Expression& number = Next();
        if (!number.is_constant()) call->symbolic.push_back({static_cast<int32_t>(i), list ? element : -1, number});
      }
    }
  }

  Graph* graph_;
  std::vector<Expression> expressions_;
  size_t next_ = 0;
};

}  // namespace

Graph Unified(const std::vector<Capture>& captures, const std::vector<std::vector<int64_t>>& sizes,
              const std::vector<std::string>& symbols, const std::vector<Decided>& decisions) {
  CheckSamples(sizes, captures.size(), symbols.size());
  std::vector<std::string> places;
  std::vector<std::vector<int64_t>> numbers;
  for (size_t i = 0; i < captures.size(); ++i) {
    if (i) CheckAlike(captures[0], captures[i], false);
    Graph graph = captures[i].graph;
    for (ValueInfo& info : graph.values) info.strides = {};  // products of sizes, and found anew where those are known
    VisitGraph(graph, Noting(&numbers.emplace_back(), i ? nullptr : &places));
    if (numbers[i].size() != numbers[0].size()) Differ("a number of sizes");
  }
  Graph graph = captures[0].graph;
  Fit fit(sizes, static_cast<int32_t>(graph.symbols.size()));
  const auto find = [&fit](const std::vector<int64_t>& samples, const std::string& what) {
    std::optional<Expression> found = fit.Find(samples);
    if (found) return *std::move(found);
    throw ValueError("sizes")
        .Got(what, " that follows them as no expression does")
        .Expected("sums, products and quotients of sizes");
  };
  std::vector<Expression> expressions;
  for (size_t place = 0; place < places.size(); ++place) {
    std::vector<int64_t> samples;
    for (const std::vector<int64_t>& sample : numbers) samples.push_back(sample[place]);
    expressions.push_back(find(samples, places[place]));
  }
  for (const Decided& decided : decisions) {
    Condition condition{decided.relation, decided.held, find(decided.a, "a decision"), find(decided.b, "a decision")};
    const bool open = !condition.a.is_constant() || !condition.b.is_constant();
    const auto begin = graph.conditions.begin(), end = graph.conditions.end();
    if (open && std::find(begin, end, condition) == end) graph.conditions.push_back(std::move(condition));
  }
  graph.symbols.insert(graph.symbols.end(), symbols.begin(), symbols.end());
  Following(&graph, std::move(expressions)).Fill();
  return graph;
}

}  // namespace dragon
