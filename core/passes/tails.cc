// Finding residuals, biases and activations behind products.
#include "core/passes/tails.h"

#include <algorithm>

#include "core/framework/op.h"

namespace dragon::tails {

Tensor ConstantOf(const Graph& graph, ValueId value) {
  const auto found = graph.constants.find(value);
  return found == graph.constants.end() ? Tensor() : found->second;
}

bool IsFast(const Graph& graph, ValueId value) {
  const ValueInfo& info = graph.values[value];
  return info.device.is_cpu() && (info.dtype == DType::kFloat32 || info.dtype == DType::kBFloat16);
}

std::vector<int> CountReaders(const Graph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  const auto read = [&](ValueId id) {
    if (id != kNoValue) ++readers[id];
  };
  for (const GraphCall& call : graph.calls) std::for_each(call.inputs.begin(), call.inputs.end(), read);
  std::for_each(graph.outputs.begin(), graph.outputs.end(), read);
  for (const auto& [input, id] : graph.updates) read(id);
  return readers;
}

namespace {

/// The number that a constant of one element holds.
std::optional<double> NumberOf(const Graph& graph, ValueId value) {
  const Tensor constant = ConstantOf(graph, value);
  if (!constant.defined() || constant.numel() != 1 || constant.is_complex()) return std::nullopt;
  return constant.Item().real();
}

/// What a call computes of its first input, if a product can do it while it stores.
std::optional<Tail> TailOf(const Graph& graph, const GraphCall& call) {
  if (!call.op->tail) return std::nullopt;
  std::vector<std::optional<double>> numbers;
  for (ValueId id : call.inputs) numbers.push_back(id == kNoValue ? std::nullopt : NumberOf(graph, id));
  const std::optional<Tail> tail = call.op->tail({call.op->schema, call.attrs, numbers});
  // In inference NaN is a matter of taste; a training step has to show that it has diverged.
  return tail && tail->drops_nan && !graph.updates.empty() ? std::nullopt : tail;
}

/// A constant that adds one number to each channel of `shape`, as a vector.
std::optional<Tensor> BiasOf(const Graph& graph, ValueId value, const Dims& shape, int channel_axis) {
  const Tensor constant = ConstantOf(graph, value);
  const int64_t channels = shape[channel_axis], from_end = static_cast<int64_t>(shape.size()) - channel_axis;
  if (!constant.defined() || constant.ndim() > shape.size()) return std::nullopt;
  if (constant.numel() != channels || constant.ndim() < from_end) return std::nullopt;
  if (constant.size(-from_end) != channels) return std::nullopt;
  return Op<"reshape">(constant.Detach(), Dims{channels});
}

class Fusion {
 public:
  Fusion(Graph& graph, const Rule& rule) : graph_(graph), rule_(rule) {}

  void Run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      if (std::optional<GraphCall> begun = rule_.begin(graph_, graph_.calls[i])) begun_.emplace_back(i, *begun);
    }
    if (begun_.empty()) return;
    readers_ = CountReaders(graph_);
    reader_.assign(graph_.values.size(), -1);
    for (size_t i = 0; i < graph_.calls.size(); ++i) Note(static_cast<int>(i));
    dead_.assign(graph_.calls.size(), 0);
    for (auto& [position, call] : begun_) Extend(position, call);
    size_t kept = 0;
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      if (dead_[i]) continue;
      if (kept != i) graph_.calls[kept] = std::move(graph_.calls[i]);
      ++kept;
    }
    graph_.calls.resize(kept);
  }

 private:
  void Note(int position) {
    for (ValueId id : graph_.calls[position].inputs) {
      if (id != kNoValue) reader_[id] = position;
    }
  }

  /// Take in what reads the call's result, as long as nobody else does and the result keeps its layout.
  void Extend(int position, GraphCall& call) {
    int last = position;
    bool changed = false;
    ValueId result = graph_.calls[position].outputs[0];
    while (result != kNoValue && readers_[result] == 1 && reader_[result] >= 0) {
      const int next = reader_[result];
      GraphCall longer = call;
      if (!Take(longer, graph_.calls[next], result)) break;
      const ValueId after = graph_.calls[next].outputs[0];
      if (after == kNoValue || !Keeps(longer, after)) break;
      dead_[last] = 1;
      call = std::move(longer);
      result = after;
      last = next;
      changed = true;
    }
    if (!changed) return;
    call.outputs = {result};
    call.scope = graph_.calls[position].scope;
    graph_.calls[last] = std::move(call);
    Note(last);
  }

  bool Keeps(const GraphCall& call, ValueId after) const {
    const ValueInfo info = InferCall(graph_, call)[0], &wanted = graph_.values[after];
    return info.shape == wanted.shape && info.strides == wanted.strides && info.dtype == wanted.dtype;
  }

  bool Take(GraphCall& call, const GraphCall& next, ValueId result) {
    Value& activation = call.attr("activation");
    if (activation.string() != Tail().activation) return false;
    if (next.op == &OpNamed<"add">() && next.attr("alpha").complex() == complex128(1))
      return TakeSum(call, next, result);
    const auto tail = TailOf(graph_, next);
    if (!tail || next.inputs[0] != result) return false;
    activation = Value(tail->activation);
    call.attr("alpha") = Value(tail->alpha);
    call.attr("beta") = Value(tail->beta);
    return true;
  }

  bool TakeSum(GraphCall& call, const GraphCall& next, ValueId result) {
    const ValueId other = next.inputs[0] == result ? next.inputs[1] : next.inputs[0];
    const ValueInfo &info = graph_.values[result], &added = graph_.values[other];
    if (other == result || info.dtype != added.dtype) return false;
    if (info.shape == added.shape) {
      if (call.input("residual") != kNoValue) return false;
      call.input("residual") = other;
      return true;
    }
    if (call.input("bias") != kNoValue) return false;
    const int axis = rule_.channel_axis < 0 ? info.shape.size() + rule_.channel_axis : rule_.channel_axis;
    const auto bias = BiasOf(graph_, other, info.shape, axis);
    if (!bias) return false;
    call.input("bias") = graph_.AddConstant(*bias);
    readers_.push_back(1);
    reader_.push_back(-1);
    return true;
  }

  Graph& graph_;
  const Rule& rule_;
  std::vector<std::pair<int, GraphCall>> begun_;
  std::vector<int> readers_, reader_;  // how often a value is read; the last call that does
  std::vector<char> dead_;
};

}  // namespace

void Fuse(Graph& graph, const Rule& rule) { Fusion(graph, rule).Run(); }

}  // namespace dragon::tails
