// What a trace comes to: a graph with its results, and the backward pass that belongs to them.
#include <unordered_set>

#include "core/framework/autograd/backward.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

void Trace::GradRead(const Tensor& leaf) {
  if (listener) listener->GradRead(leaf);
  TouchGrad(leaf, true);
}

void Trace::GradWritten(const Tensor& leaf, const Tensor& grad) {
  if (listener) listener->GradWritten(leaf, grad);
  TouchGrad(leaf, false);
}

void Trace::TouchGrad(const Tensor& leaf, bool read) {
  if (backward_) throw RuntimeError("trace").Says("a tensor keeps its gradient (retain_grad)");
  if (!failure_.empty()) return;
  if (branch_) Refuse("the gradient that a tensor keeps, within a branch or loop");
  auto [place, fresh] = grads_.try_emplace(leaf.impl());
  if (!fresh) return;
  const AutogradMeta* meta = leaf.impl()->autograd.get();
  const Tensor before = meta ? meta->grad : Tensor();
  place->second = {leaf, before, read};
  touched_.push_back(leaf.impl());
  if (before.defined() && before.impl()->storage) gradient_of_.emplace(before.impl()->storage.get(), leaf);
}

void Trace::BackwardBegins(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                           const std::vector<Tensor>& wanted, const BackwardOptions& options) {
  if (listener) listener->BackwardBegins(accumulates, roots, grads, wanted, options);
}

void Trace::BackwardEnds(std::span<const Tensor> results) {
  if (listener) listener->BackwardEnds(results);
}

std::vector<Tensor> Trace::Outside() const {
  std::vector<Tensor> outside;
  for (const CapturedInput& input : inputs_) {
    if (input.source == CapturedInput::Source::kOutside) outside.push_back(input.tensor);
  }
  return outside;
}

CapturedOutput Trace::DescribeOutput(const Tensor& tensor, Capture* capture, std::unordered_map<Storage*, int>* known) {
  CapturedOutput output;
  const Geometry geometry(tensor);
  output.shape = geometry.shape;
  output.strides = geometry.strides;
  output.dtype = geometry.dtype;
  output.free_layout = tensor.impl()->free_layout;
  output.requires_grad = tensor.requires_grad();
  if (!Known(tensor) || Known(tensor)->made.defined()) Read(tensor);
  if (!failure_.empty()) return output;
  const Cell& cell = *Known(tensor);
  CheckHistory(tensor, cell);
  output.offset = geometry.offset - cell.whole.offset;
  if (!cell.inputs.empty()) {
    output.index = cell.inputs[0];
    const TensorImpl* owner = inputs_[output.index].tensor.impl();
    const bool same = owner == tensor.impl() && inputs_[output.index].source != CapturedInput::Source::kGradient;
    output.kind = same ? CapturedOutput::Kind::kInput : CapturedOutput::Kind::kAlias;
    for (int input : cell.inputs) {
      if (inputs_[input].tensor.impl() != tensor.impl()) continue;
      output.index = input;
      output.kind = CapturedOutput::Kind::kInput;
    }
    const Tensor& source = inputs_[output.index].tensor;
    const bool gradient = inputs_[output.index].source == CapturedInput::Source::kGradient;
    if (source.dtype() != output.dtype && !gradient) {
      if (source.offset() != 0 || output.requires_grad) {
        GiveUp("a result that shows memory from outside as another dtype");
        return output;
      }
      output.offset = geometry.offset;
    } else if (!gradient) {
      output.offset = geometry.offset - source.offset();
    }
    return output;
  }
  auto [place, fresh] =
      known->try_emplace(tensor.impl()->storage.get(), static_cast<int>(capture->graph.outputs.size()));
  if (fresh) capture->graph.outputs.push_back(cell.value);
  output.index = place->second;
  return output;
}

/// Memory from outside is shown with the history that it has outside; what is new gets its history from the compiled
/// call. So a result may be no leaf of its own, and no alias whose history is another than that of its input.
void Trace::CheckHistory(const Tensor& tensor, const Cell& cell) {
  if (!tensor.requires_grad()) return;
  const auto base = [](const TensorImpl* impl) { return impl->base ? impl->base.get() : impl; };
  bool is_shown = cell.inputs.empty() && !tensor.is_leaf();
  for (int input : cell.inputs) {
    const Tensor& owner = inputs_[input].tensor;
    is_shown |= owner.requires_grad() && base(owner.impl()) == base(tensor.impl());
  }
  if (!is_shown) {
    GiveUp(tensor.is_leaf() ? "a result is a leaf that requires grad, made within the call"
                            : "a result shows memory from outside with a history of its own");
  }
}

void Trace::RestoreGradients() {
  for (auto& [impl, slot] : grads_) AutogradMeta::Of(slot.leaf).grad = slot.before;
}

Capture Trace::Finish(const std::vector<Tensor>& outputs) {
  if (running_) throw RuntimeError("trace").Says("it has not stopped");
  Capture capture;
  std::unordered_map<Storage*, int> known;
  std::vector<CapturedOutput> described;
  for (const Tensor& tensor : outputs) {
    described.push_back(DescribeOutput(tensor, &capture, &known));
    if (!failure_.empty()) throw RuntimeError("trace").Says(failure_);
  }
  for (TensorImpl* impl : touched_) {
    const GradSlot& slot = grads_[impl];
    CapturedGradient gradient;
    gradient.leaf = slot.leaf;
    gradient.argument = ArgumentOf(slot.leaf);
    gradient.guarded = slot.read_first;
    gradient.was_defined = slot.before.defined();
    const AutogradMeta* meta = impl->autograd.get();
    const Tensor now = meta ? meta->grad : Tensor();
    if (!now.is_same(slot.before)) {
      gradient.written = true;
      gradient.is_none = !now.defined();
      if (now.defined()) gradient.output = DescribeOutput(now, &capture, &known);
    }
    if (gradient.guarded || gradient.written) capture.gradients.push_back(std::move(gradient));
  }
  if (!failure_.empty()) throw RuntimeError("trace").Says(failure_);
  for (const Cell& cell : cells_) {
    if (!cell.written || cell.inputs.empty()) continue;
    graph_.updates.push_back({cell.inputs[0], cell.value});
    const Tensor& written = inputs_[cell.inputs[0]].tensor;
    if (inputs_[cell.inputs[0]].source == CapturedInput::Source::kGradient) continue;
    if (written.requires_grad() && !written.is_leaf()) {
      GiveUp("a tensor from outside has a history, or gets one by being written in place");
      throw RuntimeError("trace").Says(failure_);
    }
  }
  std::vector<ValueId> results = std::move(capture.graph.outputs);
  capture.graph = graph_;
  capture.graph.outputs = std::move(results);
  capture.inputs = inputs_;
  capture.outputs = std::move(described);
  capture.placed = placed_;
  capture.argument_count = static_cast<int>(arguments_.size());
  return capture;
}

namespace {

/// Leaves' hooks run where their gradients are accumulated, so they have no place in the graph that makes those.
class HooksAside {
 public:
  explicit HooksAside(const std::vector<Tensor>& tensors) : tensors_(tensors) {
    for (const Tensor& tensor : tensors_) kept_.push_back(std::exchange(AutogradMeta::Of(tensor).hooks, {}));
  }
  ~HooksAside() {
    for (size_t i = 0; i < tensors_.size(); ++i) AutogradMeta::Of(tensors_[i]).hooks = std::move(kept_[i]);
  }

 private:
  const std::vector<Tensor>& tensors_;
  std::vector<std::vector<Ref<TensorHook>>> kept_;
};

}  // namespace

Differentiation Trace::Differentiate(const std::vector<Tensor>& outputs, const Capture& capture) {
  Differentiation result;
  result.forward_calls = static_cast<int>(graph_.calls.size());
  const size_t inputs = inputs_.size();
  for (size_t i = 0; i < inputs; ++i) {
    const CapturedInput& input = inputs_[i];
    if (input.source == CapturedInput::Source::kGradient || !input.tensor.requires_grad()) continue;
    result.wanted.push_back(static_cast<int>(i));
    const Ref<Node> node = GradNode(input.tensor);
    if (node && !node->is_accumulator() && node->extras_if_any())
      result.failure = "an argument has hooks on its gradient";
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const CapturedOutput& output = capture.outputs[i];
    if (output.kind == CapturedOutput::Kind::kValue && output.requires_grad)
      result.roots.push_back(static_cast<int>(i));
  }
  FindSpentRoots(outputs, &result);
  if (result.failure.empty() && !result.roots.empty()) result.failure = TryGradients(outputs, &result);
  for (int root : result.roots) result.reaches.push_back(Reached(outputs[root], result.wanted));
  for (const auto& [root, words] : result.spent) {
    result.spent_reaches.push_back(Reached(outputs[root], result.wanted));
  }
  result.graph = graph_;
  result.graph.outputs.clear();
  result.graph.updates.clear();
  return result;
}

/// To which inputs a backward pass from `root` comes, each as the first one on some way.
std::vector<char> Trace::Reached(const Tensor& root, const std::vector<int>& wanted) const {
  std::vector<Edge> ends;
  for (int input : wanted) ends.push_back(GradEdge(inputs_[input].tensor));
  std::vector<char> reached(wanted.size(), 0);
  std::unordered_set<const Node*> seen;
  std::vector<Edge> waiting = {GradEdge(root)};
  while (!waiting.empty()) {
    const Edge edge = std::move(waiting.back());
    waiting.pop_back();
    if (!edge) continue;
    bool is_end = false;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].node != edge.node || ends[i].index != edge.index) continue;
      reached[i] = is_end = true;
    }
    if (is_end || !seen.insert(edge.node.get()).second) continue;
    for (const Edge& next : edge.node->edges) waiting.push_back(next);
  }
  return reached;
}

/// A result whose backward pass has been run already cannot be differentiated again; eagerly it can be neither. Where
/// only what was saved for it was written since, it depends on the inputs asked for whether that matters.
void Trace::FindSpentRoots(const std::vector<Tensor>& outputs, Differentiation* result) {
  const Snapshot before = Save();
  const std::vector<int> candidates = result->roots;
  std::string failure = TryGradients(outputs, result);
  Restore(before);
  result->grads.clear();
  if (failure.empty()) return;
  result->roots.clear();
  for (int candidate : candidates) {
    Differentiation alone;
    alone.roots = {candidate};
    alone.wanted = result->wanted;
    failure = TryGradients(outputs, &alone);
    Restore(before);
    if (failure.empty()) {
      result->roots.push_back(candidate);
    } else if (failure.find("freed by an earlier") != failure.npos) {
      result->spent.push_back({candidate, failure});
    } else {
      result->failure = failure;
    }
  }
}

void Trace::Restore(const Snapshot& snapshot) {
  graph_ = snapshot.graph;
  inputs_ = snapshot.inputs;
  constant_ = snapshot.constant;
  cells_ = snapshot.cells;
  outside_ = snapshot.outside;
  arguments_.resize(snapshot.arguments);
  failure_.clear();
}

std::string Trace::TryGradients(const std::vector<Tensor>& outputs, Differentiation* result) {
  const size_t inputs = inputs_.size();
  std::string failure;
  // Python's errors go through here as they are: Ctrl-C in somebody's own gradient, say. The door must not stay closed.
  struct Opening {
    explicit Opening(Trace& trace) : trace(trace) { trace.backward_ = true; }
    ~Opening() {
      if (trace.running_) trace.Stop();
      Door().phantom = false;
      trace.backward_ = false;
    }
    Trace& trace;
  } opening(*this);
  try {
    TakeGradients(outputs, result);
    if (inputs_.size() != inputs + result->roots.size()) {
      failure = "the backward pass reads a tensor that the forward pass did not";
    }
    if (!failure_.empty()) failure = failure_;
  } catch (const Error& error) {
    failure = error.what();
  }
  return failure;
}

void Trace::TakeGradients(const std::vector<Tensor>& outputs, Differentiation* result) {
  std::vector<Tensor> roots, upstream, wanted;
  for (int root : result->roots) {
    roots.push_back(outputs[root]);
    upstream.push_back(Tensor::Phantom(roots.back().shape(), {}, roots.back().dtype(), roots.back().device()));
    AddInput(upstream.back());
    inputs_.back().source = CapturedInput::Source::kUpstream;
  }
  for (int input : result->wanted) wanted.push_back(inputs_[input].tensor);
  const HooksAside aside(wanted);
  BackwardOptions options;
  // The compiled node's edges lead to every input; what lies behind one of them is the tape's business.
  options.retain_graph = options.allow_unused = options.stop_at_inputs = true;
  Start();
  Door().phantom = true;
  const std::vector<Tensor> grads = Gradients(roots, upstream, wanted, options);
  for (size_t i = 0; i < grads.size(); ++i) {
    ValueId id = grads[i].defined() ? Read(grads[i]) : kNoValue;
    result->grads.push_back(id);
  }
  Door().phantom = false;
  Stop();
}

}  // namespace dragon
