// Finding the linear functions of sizes among the numbers of a capture.
#include "core/runtime/family.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

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

/// Everything but the numbers.
void CheckAlike(const Graph& a, const Graph& b) {
  if (a.symbols != b.symbols) Differ("a set of symbols");
  if (a.calls.size() != b.calls.size() || a.values.size() != b.values.size()) Differ("a number of calls");
  if (a.inputs != b.inputs || a.outputs != b.outputs || a.updates != b.updates) Differ("a set of inputs or results");
  for (size_t i = 0; i < a.values.size(); ++i) {
    const ValueInfo &one = a.values[i], &other = b.values[i];
    if (one.dtype != other.dtype || one.device != other.device || one.shape.size() != other.shape.size() ||
        one.strides.size() != other.strides.size()) {
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

void CheckAlike(const Capture& a, const Capture& b) {
  CheckAlike(a.graph, b.graph);
  CheckAlike(a.backward.graph, b.backward.graph);
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

std::string Difference(const Capture& one, const Capture& other) {
  try {
    CheckAlike(one, other);
  } catch (const Error& error) {
    return error.what();
  }
  std::vector<std::string> places;
  const std::vector<int64_t> mine = NumbersOf(one, &places), others = NumbersOf(other, nullptr);
  for (size_t i = 0; i < mine.size() && i < others.size(); ++i) {
    if (mine[i] != others[i]) return places[i] + " is " + std::to_string(mine[i]) + " and " + std::to_string(others[i]);
  }
  return mine.size() == others.size() ? "" : "a number of sizes";
}

namespace {

/// A number that follows sizes: an offset, and a coefficient for each of them.
struct Line {
  int64_t offset = 0;
  std::vector<int64_t> coefficients;

  bool follows() const {
    return std::any_of(coefficients.begin(), coefficients.end(), [](int64_t k) { return k != 0; });
  }
  /// Whether this is the number at these sizes.
  bool Holds(const std::vector<int64_t>& sizes, int64_t number) const {
    int64_t sum = offset;
    for (size_t k = 0; k < sizes.size(); ++k) {
      int64_t term;
      if (__builtin_mul_overflow(coefficients[k], sizes[k], &term) || __builtin_add_overflow(sum, term, &sum)) {
        return false;
      }
    }
    return sum == number;
  }
};

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

/// Strides are products of sizes, and found anew where those are known.
const char* const kStrides = "the strides of a value";

Line FitLine(const Samples& sizes, const std::vector<std::vector<int64_t>>& numbers, size_t place,
             const std::string& name) {
  Line line;
  const size_t symbols = sizes[0].size();
  line.offset = numbers[0][place];
  for (size_t k = 0; k < symbols; ++k) {
    const __int128 step = static_cast<__int128>(sizes[k + 1][k]) - sizes[0][k];
    const __int128 difference = static_cast<__int128>(numbers[k + 1][place]) - numbers[0][place];
    const auto coefficient = static_cast<int64_t>(difference / step);
    int64_t part;
    if (__builtin_mul_overflow(coefficient, sizes[0][k], &part) ||
        __builtin_sub_overflow(line.offset, part, &line.offset)) {
      throw ValueError("sizes").Got(name, " that is beyond 64 bits").Expected("a smaller number");
    }
    line.coefficients.push_back(coefficient);
  }
  for (size_t i = 0; i < sizes.size() && name != kStrides; ++i) {
    if (!line.Holds(sizes[i], numbers[i][place])) {
      throw ValueError("sizes").Got(name, " that is no sum of multiples of the sizes").Expected("one");
    }
  }
  return line;
}

/// Puts lines where a graph's numbers are, in the order in which `NumbersOf` tells them.
class Following {
 public:
  Following(Graph* graph, std::vector<Line> lines, const std::vector<std::string>& symbols)
      : graph_(graph), lines_(std::move(lines)), first_(static_cast<int32_t>(graph->symbols.size())) {
    graph_->symbols.insert(graph_->symbols.end(), symbols.begin(), symbols.end());
  }

  void Fill() {
    for (ValueInfo& info : graph_->values) {
      for (int axis = 0; axis < info.shape.size(); ++axis) {
        Expression expression;
        if (Next(&expression)) info.symbolic.push_back({axis, expression});
      }
      next_ += info.strides.size();
    }
    for (const auto& [id, tensor] : graph_->constants) {
      Expression expression;
      if (IsWholeNumber(tensor) && Next(&expression)) {
        throw NotImplementedError("sizes").Says("the graph computes with a size as a number");
      }
    }
    for (GraphCall& call : graph_->calls) FillCall(&call);
  }

 private:
  bool Next(Expression* expression) {
    const Line& line = lines_[next_++];
    expression->offset = line.offset;
    for (size_t k = 0; k < line.coefficients.size(); ++k) {
      if (line.coefficients[k]) expression->terms.push_back({first_ + static_cast<int32_t>(k), line.coefficients[k]});
    }
    return line.follows();
  }

  void FillCall(GraphCall* call) {
    for (size_t i = 0; i < call->attrs.size(); ++i) {
      const Value& attr = call->attrs[i];
      const bool list = attr.kind() == Value::Kind::kInts;
      const int count = list ? attr.ints().size() : attr.kind() == Value::Kind::kInt ? 1 : 0;
      for (int element = 0; element < count; ++element) {
        GraphCall::Symbolic symbolic{static_cast<int32_t>(i), list ? element : -1, {}};
        if (Next(&symbolic.value)) call->symbolic.push_back(symbolic);
      }
    }
  }

  Graph* graph_;
  std::vector<Line> lines_;
  int32_t first_;
  size_t next_ = 0;
};

}  // namespace

Graph Unified(const std::vector<Capture>& captures, const std::vector<std::vector<int64_t>>& sizes,
              const std::vector<std::string>& symbols) {
  CheckSamples(sizes, captures.size(), symbols.size());
  std::vector<std::string> places;
  std::vector<std::vector<int64_t>> numbers;
  for (size_t i = 0; i < captures.size(); ++i) {
    if (i) CheckAlike(captures[0], captures[i]);
    Graph graph = captures[i].graph;
    VisitGraph(graph, Noting(&numbers.emplace_back(), i ? nullptr : &places));
    if (numbers[i].size() != numbers[0].size()) Differ("a number of sizes");
  }
  std::vector<Line> lines;
  for (size_t place = 0; place < places.size(); ++place) {
    lines.push_back(FitLine(sizes, numbers, place, places[place]));
  }
  Graph graph = captures[0].graph;
  Following(&graph, std::move(lines), symbols).Fill();
  return graph;
}

}  // namespace dragon
