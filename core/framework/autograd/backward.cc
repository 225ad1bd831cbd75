// The engine of the backward pass: nodes run in the reverse order of their forward calls, each when all its gradients
// are in.
#include "core/framework/autograd/backward.h"

#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/framework/autocast.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/op.h"
#include "core/framework/profile.h"

namespace dragon {

static thread_local uint64_t t_running = 0;

uint64_t RunningSequence() { return t_running; }

RunningNode::RunningNode(const Node& node) : before_(std::exchange(t_running, node.sequence)) {}

RunningNode::~RunningNode() { t_running = before_; }

namespace {

struct NodeState {
  int waiting = 0;     ///< gradients still to come
  bool needed = true;  ///< on a path to a wanted input
  Tensors grads;
};

struct Later {
  bool operator()(const Ref<Node>& a, const Ref<Node>& b) const {
    // Accumulation first: it frees the gradient earliest.
    if (a->is_accumulator() != b->is_accumulator()) return b->is_accumulator();
    return a->sequence < b->sequence;
  }
};

class Engine {
 public:
  explicit Engine(const BackwardOptions& options) : options_(options) {}

  void AddRoot(const Tensor& root, const Tensor& grad);
  /// Ask for the gradient of a tensor instead of accumulating. Returns false if it requires none.
  void Want(const Tensor& input, size_t slot);
  void WantInto(const Tensor& leaf);
  void Run();
  std::vector<Tensor> captured;

 private:
  void CountEdges();
  void MarkNeeded();
  void Process(const Ref<Node>& node);
  uint64_t Unwanted(const Node& node);
  void Arrive(const Edge& edge, Tensor grad);
  void RunTensorHooks(Node& node, Tensors& grads);
  void CheckNan(const Node& node, const Tensors& grads) const;

  struct Wanted {
    int index;
    size_t slot;
  };
  BackwardOptions options_;
  std::unordered_map<Node*, NodeState> states_;
  std::unordered_map<Node*, std::vector<Wanted>> wanted_;
  std::unordered_set<Node*> into_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::vector<Ref<Node>> keep_;
  std::priority_queue<Ref<Node>, std::vector<Ref<Node>>, Later> ready_;
};

void Engine::AddRoot(const Tensor& root, const Tensor& grad) {
  const Edge edge = GradEdge(root);
  if (!edge) {
    throw RuntimeError("backward")
        .Got("a tensor that does not require grad")
        .Expected("one with a history, or a leaf with requires_grad=True");
  }
  Tensor start = grad;
  if (!start.defined()) {
    if (root.numel() != 1) {
      throw RuntimeError("backward")
          .Got("no gradient for a result of shape ", root.shape())
          .Expected("a gradient of that shape, or a result with one element");
    }
    start = Op<"ones">(root.shape(), root.dtype(), root.device());
  } else if (start.shape() != root.shape()) {
    throw RuntimeError("backward").Got("a gradient of shape ", start.shape()).Expected("shape ", root.shape());
  } else if (start.dtype() != root.dtype()) {
    start = FitGrad(start, TensorMeta(root));
  }
  roots_.emplace_back(edge, std::move(start));
}

void Engine::Want(const Tensor& input, size_t slot) {
  const Edge edge = GradEdge(input);
  if (!edge) throw RuntimeError("grad").Got("input ", slot, " that does not require grad").Expected("one that does");
  keep_.push_back(edge.node);
  wanted_[edge.node.get()].push_back({edge.index, slot});
}

void Engine::WantInto(const Tensor& leaf) {
  const Edge edge = GradEdge(leaf);
  if (!edge) throw RuntimeError("backward").Got("an input that does not require grad").Expected("one that does");
  keep_.push_back(edge.node);
  into_.insert(edge.node.get());
}

void Engine::CountEdges() {
  std::vector<Node*> stack;
  for (const auto& [edge, grad] : roots_) {
    if (states_.try_emplace(edge.node.get()).second) stack.push_back(edge.node.get());
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges) {
      if (!edge) continue;
      auto [place, fresh] = states_.try_emplace(edge.node.get());
      ++place->second.waiting;
      if (fresh) stack.push_back(edge.node.get());
    }
  }
}

void Engine::MarkNeeded() {
  if (wanted_.empty() && into_.empty()) return;
  // Depth-first, children before parents, without recursion.
  std::unordered_map<Node*, bool> reaches;
  std::vector<std::pair<Node*, size_t>> stack;
  for (const auto& [edge, grad] : roots_) stack.emplace_back(edge.node.get(), 0);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == 0) reaches.try_emplace(node, wanted_.count(node) || into_.count(node));
    if (next < node->edges.size()) {
      const Edge& edge = node->edges[next++];
      if (!edge) continue;
      if (!reaches.count(edge.node.get())) stack.emplace_back(edge.node.get(), 0);
      continue;
    }
    // A node whose own gradient is wanted need not run for that: only for what lies beyond it.
    bool beyond = false;
    for (const Edge& edge : node->edges) beyond |= edge && reaches[edge.node.get()];
    if (beyond) reaches[node] = true;
    const bool ends = options_.stop_at_inputs && wanted_.count(node);
    states_[node].needed = (beyond && !ends) || (node->is_accumulator() && into_.count(node));
    stack.pop_back();
  }
}

void Engine::Arrive(const Edge& edge, Tensor grad) {
  NodeState& state = states_[edge.node.get()];
  if (state.grads.empty()) state.grads.resize(std::max<size_t>(edge.node->y_metas.size(), edge.index + 1));
  if (!grad.defined()) return;
  Tensor& slot = state.grads[edge.index];
  if (!slot.defined()) {
    slot = std::move(grad);
    return;
  }
  const bool ours = !options_.create_graph && slot.impl()->refs() == 1 && slot.impl()->storage &&
                    slot.impl()->storage->refs() == 1 && slot.is_contiguous() && slot.dtype() == grad.dtype() &&
                    !grad.impl()->parts;
  if (ours) {
    OpInto<"add">(slot, slot, grad);
  } else {
    slot = Op<"add">(slot, grad);
  }
}

void Engine::RunTensorHooks(Node& node, Tensors& grads) {
  const Node::Extras* extras = node.extras_if_any();
  if (!extras) return;
  for (const auto& [index, hook] : std::vector(extras->tensor_hooks)) {
    if (!grads[index].defined()) continue;
    if (Tensor replaced = hook->Call(grads[index]); replaced.defined()) grads[index] = replaced;
  }
  for (const auto& hook : std::vector(extras->pre_hooks)) {
    Tensors replaced = hook->Call(grads, grads);
    if (!replaced.empty()) grads = replaced;
  }
  for (const auto& [index, impl] : extras->retained) {
    if (grads[index].defined()) {
      const Tensor keeper{Ref<TensorImpl>(impl)};
      const Tensor before = keeper.grad();
      keeper.set_grad(before.defined() ? Op<"add">(before, grads[index]) : grads[index]);
    }
  }
}

void Engine::CheckNan(const Node& node, const Tensors& grads) const {
  for (const Tensor& grad : grads) {
    if (!grad.defined() || !IsInexact(grad.dtype())) continue;
    if (!Op<"any">(Op<"isnan">(grad)).Item().boolean()) continue;
    throw RuntimeError(node.name()).Says("its backward returned NaN");
  }
}

/// The edges of a node that lead to nothing whose gradient was asked for.
uint64_t Engine::Unwanted(const Node& node) {
  uint64_t edges = 0;
  if (wanted_.empty() && into_.empty()) return edges;
  for (size_t i = 0; i < std::min<size_t>(node.edges.size(), 64); ++i) {
    Node* next = node.edges[i].node.get();
    if (next && !states_[next].needed && !wanted_.count(next) && !into_.count(next)) edges |= uint64_t{1} << i;
  }
  return edges;
}

void Engine::Process(const Ref<Node>& node) {
  NodeState& state = states_[node.get()];
  if (state.grads.empty()) state.grads.resize(std::max<size_t>(node->y_metas.size(), 1));
  Tensors grads = std::move(state.grads);
  bool any = false;
  for (const Tensor& grad : grads) any |= grad.defined();
  if (any && !node->is_accumulator()) RunTensorHooks(*node, grads);
  if (const auto wish = wanted_.find(node.get()); wish != wanted_.end()) {
    for (const Wanted& wanted : wish->second) {
      Tensor grad = grads[wanted.index];
      if (node->is_accumulator() && grad.defined()) {
        const auto hooks = AutogradMeta::Of(static_cast<AccumulateNode*>(node.get())->leaf()).hooks;
        for (const auto& hook : hooks) {
          if (Tensor replaced = hook->Call(grad); replaced.defined()) grad = replaced;
        }
      }
      captured[wanted.slot] = grad;
    }
  }
  Tensors results;
  const bool accumulates = wanted_.empty() && (into_.empty() || into_.count(node.get()));
  if (state.needed && any && (!node->is_accumulator() || accumulates)) {
    try {
      ProfileScope scope([&] { return node->name(); });
      RunningNode running(*node);
      const Node::Extras* extras = node->extras_if_any();
      const bool seen_later = options_.retain_graph || (extras && !extras->post_hooks.empty());
      results = seen_later ? node->Backward(grads, Unwanted(*node)) : node->BackwardOnce(grads, Unwanted(*node));
      if (ChecksNan() && !node->is_accumulator()) CheckNan(*node, results);
    } catch (const Error& error) {
      const Node::Extras* extras = node->extras_if_any();
      if (!extras || extras->trace.empty()) throw;
      throw Error(error.kind(), std::string(error.what()) + "\nThe forward call stood here:\n" + extras->trace);
    }
    if (const Node::Extras* extras = node->extras_if_any()) {
      for (const auto& hook : std::vector(extras->post_hooks)) {
        Tensors replaced = hook->Call(results, grads);
        if (!replaced.empty()) results = replaced;
      }
    }
  }
  grads.clear();
  if (!options_.retain_graph && state.needed) node->ReleaseSaved();
  for (size_t i = 0; i < node->edges.size(); ++i) {
    const Edge& edge = node->edges[i];
    if (!edge) continue;
    Arrive(edge, i < results.size() ? std::move(results[i]) : Tensor());
    if (--states_[edge.node.get()].waiting == 0) ready_.push(edge.node);
  }
}

void Engine::Run() {
  GradMode mode(options_.create_graph);
  const AutocastGuard as_forward(std::nullopt);  // gradients have the dtypes that the forward calls chose
  CountEdges();
  MarkNeeded();
  std::unordered_set<Node*> started;
  for (auto& [edge, grad] : roots_) Arrive(edge, std::move(grad));
  for (auto& [edge, grad] : roots_) {
    if (states_[edge.node.get()].waiting == 0 && started.insert(edge.node.get()).second) ready_.push(edge.node);
  }
  while (!ready_.empty()) {
    const Ref<Node> node = ready_.top();
    ready_.pop();
    Process(node);
  }
}

void AddRoots(Engine& engine, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads) {
  for (size_t i = 0; i < roots.size(); ++i) engine.AddRoot(roots[i], i < grads.size() ? grads[i] : Tensor());
}

/// Tells who listens when a backward pass begins and ends.
class ToldPass {
 public:
  ToldPass(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
           const std::vector<Tensor>& wanted, const BackwardOptions& options)
      : listener_(Door().tracer) {
    if (listener_) listener_->BackwardBegins(accumulates, roots, grads, wanted, options);
  }
  ~ToldPass() {
    if (listener_) listener_->BackwardEnds(results_);
  }
  const std::vector<Tensor>& Keep(const std::vector<Tensor>& results) { return results_ = results; }

 private:
  Listener* listener_;
  std::vector<Tensor> results_;
};

}  // namespace

void Backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads, const BackwardOptions& options,
              const std::vector<Tensor>& only_into) {
  const ToldPass told(true, roots, grads, only_into, options);
  Engine engine(options);
  AddRoots(engine, roots, grads);
  for (const Tensor& leaf : only_into) engine.WantInto(leaf);
  engine.Run();
}

std::vector<Tensor> Gradients(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                              const std::vector<Tensor>& inputs, const BackwardOptions& options) {
  ToldPass told(false, roots, grads, inputs, options);
  Engine engine(options);
  AddRoots(engine, roots, grads);
  engine.captured.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) engine.Want(inputs[i], i);
  engine.Run();
  if (!options.allow_unused) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (engine.captured[i].defined()) continue;
      throw RuntimeError("grad")
          .Got("input ", i, " that the results do not depend on")
          .Expected("allow_unused=True if that is meant");
    }
  }
  told.Keep(engine.captured);
  return std::move(engine.captured);
}

void RegisterHook(const Tensor& tensor, Ref<TensorHook> hook) {
  if (!tensor.requires_grad()) {
    throw RuntimeError("register_hook").Got("a tensor that does not require grad").Expected("one that does");
  }
  if (Door().tracer) Door().tracer->Hooked();
  if (const Ref<Node> node = GradNode(tensor)) {
    node->extras().tensor_hooks.emplace_back(tensor.impl()->autograd->output, std::move(hook));
  } else {
    AutogradMeta::Of(tensor).hooks.push_back(std::move(hook));
  }
}

void RemoveHook(const Tensor& tensor, const Ref<TensorHook>& hook) {
  if (const Ref<Node> node = GradNode(tensor)) {
    std::erase_if(node->extras().tensor_hooks, [&](const auto& entry) { return entry.second == hook; });
  }
  AutogradMeta& meta = AutogradMeta::Of(tensor);
  std::erase(meta.hooks, hook);
  std::erase(meta.accumulated_hooks, hook);
}

void RetainGrad(const Tensor& tensor) {
  if (!tensor.requires_grad()) {
    throw RuntimeError("retain_grad").Got("a tensor that does not require grad").Expected("one that does");
  }
  AutogradMeta& meta = AutogradMeta::Of(tensor);
  if (!meta.node || meta.retain_grad) return;
  meta.retain_grad = true;
  meta.node->extras().retained.emplace_back(meta.output, tensor.impl());
}

}  // namespace dragon
