// Finding the linear functions of the batch's size among the numbers of a capture.
#include "core/runtime/family.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/framework/graph_check.h"

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
  throw ValueError("batch").Got(what, " that changes with the batch's size").Expected("the same calls at every size");
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

std::vector<int64_t> NumbersOf(Capture capture, std::vector<std::string>* places) {
  std::vector<int64_t> numbers;
  VisitNumbers(capture, [&](int64_t& number, const std::string& place) {
    numbers.push_back(number);
    if (places) places->push_back(place);
  });
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

Family::Family(std::vector<Capture> captures, const std::vector<int64_t>& sizes) {
  if (captures.size() < 3) throw ValueError("batch").Got(captures.size(), " captures").Expected("three or more");
  if (sizes.size() != captures.size()) throw ValueError("batch").Got(sizes.size(), " sizes").Expected(captures.size());
  base_ = captures[0];
  std::vector<std::string> places;
  std::vector<std::vector<int64_t>> numbers;
  for (size_t i = 0; i < captures.size(); ++i) {
    if (i) CheckAlike(base_, captures[i]);
    numbers.push_back(NumbersOf(captures[i], i ? nullptr : &places));
    if (numbers[i].size() != numbers[0].size()) Differ("a number of sizes");
  }
  const int64_t n0 = sizes[0], n1 = sizes[1];
  if (n0 == n1) throw ValueError("batch").Got("two captures at size ", n0).Expected("different sizes");
  for (size_t k = 0; k < numbers[0].size(); ++k) {
    const int64_t difference = numbers[1][k] - numbers[0][k];
    const int64_t coefficient = difference / (n1 - n0), offset = numbers[0][k] - coefficient * n0;
    for (size_t i = 0; i < captures.size(); ++i) {
      if (offset + coefficient * sizes[i] != numbers[i][k]) Differ(places[k]);
    }
    Line line{offset, coefficient};
    for (const std::vector<int64_t>& sample : numbers) {
      line.below |= sample[k] < 0;
      line.zero |= sample[k] == 0;
      line.above |= sample[k] > 0;
    }
    numbers_.push_back(line);
  }
}

namespace {

[[noreturn]] void RefuseSize(int64_t size, const std::string& what) {
  throw ValueError("batch").Got("size ", size, ", where ", what).Expected("a size at which the call is known");
}

bool SameStrides(const ValueInfo& one, const ValueInfo& other) {
  const auto strides = [](const ValueInfo& info) {
    return info.strides.empty() ? ContiguousStrides(info.shape) : info.strides;
  };
  const Dims mine = strides(one), theirs = strides(other);
  for (int axis = 0; axis < one.shape.size(); ++axis) {
    if (one.shape[axis] > 1 && mine[axis] != theirs[axis]) return false;
  }
  return true;
}

/// Every operator is asked anew what it makes of its operands: only then the numbers of this size are known, and not
/// merely extrapolated.
void CheckCalls(const Graph& graph, int64_t size) {
  for (const ValueInfo& info : graph.values) CheckValueInfo("batch", info);
  for (const GraphCall& call : graph.calls) {
    const std::vector<ValueInfo> infos = InferCall(graph, call);
    if (infos.size() != call.outputs.size()) RefuseSize(size, call.op->name() + " has another number of results");
    for (size_t k = 0; k < infos.size(); ++k) {
      if (call.outputs[k] == kNoValue) continue;
      const ValueInfo& expected = graph.values[call.outputs[k]];
      if (infos[k].shape != expected.shape || infos[k].dtype != expected.dtype || !SameStrides(infos[k], expected)) {
        RefuseSize(size, call.op->name() + " makes something else");
      }
    }
  }
}

/// What is shown of a value or an input lies in its memory.
void CheckShown(const Graph& graph, const CapturedOutput& output, int64_t size) {
  const bool fresh = output.kind == CapturedOutput::Kind::kValue;
  const ValueId id = fresh ? graph.outputs[output.index] : graph.inputs[output.index];
  if (LiesWithin(output.shape, output.strides, output.offset, graph.Bytes(id) / ItemSize(output.dtype))) return;
  RefuseSize(size, "a result reaches out of the memory that it is a part of");
}

}  // namespace

int64_t Family::Line::At(int64_t size, const std::string& place) const {
  int64_t number;
  if (__builtin_mul_overflow(coefficient, size, &number) || __builtin_add_overflow(offset, number, &number)) {
    RefuseSize(size, place + " is beyond 64 bits");
  }
  // The engine's own arithmetic takes its ways by signs: an index below 0 counts from the end.
  if (number < 0 ? below : number > 0 ? above : zero) return number;
  RefuseSize(size, place + " has another sign");
}

Capture Family::At(int64_t size) const {
  Capture capture = base_;
  size_t k = 0;
  VisitNumbers(capture, [&](int64_t& number, const std::string& place) { number = numbers_[k++].At(size, place); });
  CheckCalls(capture.graph, size);
  CheckCalls(capture.backward.graph, size);
  for (const CapturedOutput& output : capture.outputs) CheckShown(capture.graph, output, size);
  for (const CapturedGradient& gradient : capture.gradients) {
    if (gradient.written && !gradient.is_none) CheckShown(capture.graph, gradient.output, size);
  }
  return capture;
}

Graph Family::graph() const {
  Graph graph = base_.graph;
  const int32_t symbol = static_cast<int32_t>(graph.symbols.size());
  graph.symbols.push_back("batch");
  size_t k = 0;
  const auto follow = [&](Expression* expression) {
    const Line& line = numbers_[k++];
    expression->offset = line.offset;
    if (line.coefficient) expression->terms.push_back({symbol, line.coefficient});
    return line.coefficient != 0;
  };
  for (ValueInfo& info : graph.values) {
    for (int axis = 0; axis < info.shape.size(); ++axis) {
      Expression expression;
      if (follow(&expression)) info.symbolic.push_back({axis, expression});
    }
    k += info.strides.size();
  }
  for (const auto& [id, tensor] : graph.constants) {
    Expression expression;
    if (IsWholeNumber(tensor) && follow(&expression)) {
      throw NotImplementedError("batch").Says("the graph computes with the batch's size as a number");
    }
  }
  for (GraphCall& call : graph.calls) {
    for (size_t i = 0; i < call.attrs.size(); ++i) {
      const Value& attr = call.attrs[i];
      const bool list = attr.kind() == Value::Kind::kInts;
      const int count = list ? attr.ints().size() : attr.kind() == Value::Kind::kInt ? 1 : 0;
      for (int element = 0; element < count; ++element) {
        GraphCall::Symbolic symbolic{static_cast<int32_t>(i), list ? element : -1, {}};
        if (follow(&symbolic.value)) call.symbolic.push_back(symbolic);
      }
    }
  }
  return graph;
}

}  // namespace dragon
