// The walk along references that only one Python object stands behind.
#include "core/bindings/collect.h"

#include "core/framework/autograd/backward.h"
#include "core/framework/autograd/meta.h"

namespace dragon::python {

namespace {

/// The collector comes by often, and histories can be a million steps long.
constexpr int kMostSteps = 500;

class Walk {
 public:
  Walk(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  /// Start with objects of which the caller is the only owner.
  int Tensor(const TensorImpl* impl) {
    tensors_.push_back(impl);
    return Run();
  }
  int Step(const Node* node) {
    nodes_.push_back(node);
    return Run();
  }

 private:
  int Run() {
    for (int steps = 0; steps < kMostSteps && !(tensors_.empty() && nodes_.empty()); ++steps) {
      int found;
      if (!tensors_.empty()) {
        const TensorImpl* impl = tensors_.back();
        tensors_.resize(tensors_.size() - 1);
        found = Look(*impl);
      } else {
        const Node* node = nodes_.back();
        nodes_.resize(nodes_.size() - 1);
        found = Look(*node);
      }
      if (found) return found;
    }
    return 0;
  }

  int Look(const TensorImpl& impl) {
    if (impl.base && impl.base->refs() == 1) tensors_.push_back(impl.base.get());
    const AutogradMeta* meta = impl.autograd.get();
    if (!meta) return 0;
    for (const auto& hook : meta->hooks) {
      if (const int found = Ask(hook.get())) return found;
    }
    for (const auto& hook : meta->accumulated_hooks) {
      if (const int found = Ask(hook.get())) return found;
    }
    if (meta->grad.defined() && meta->grad.impl()->refs() == 1) tensors_.push_back(meta->grad.impl());
    if (meta->node && meta->node->refs() == 1) nodes_.push_back(meta->node.get());
    return 0;
  }

  int Look(const Node& node) {
    if (const int found = Ask(&node)) return found;
    if (const Node::Extras* extras = node.extras_if_any()) {
      for (const auto& [index, hook] : extras->tensor_hooks) {
        if (const int found = Ask(hook.get())) return found;
      }
      for (const auto* hooks : {&extras->pre_hooks, &extras->post_hooks}) {
        for (const auto& hook : *hooks) {
          if (const int found = Ask(hook.get())) return found;
        }
      }
    }
    if (node.is_accumulator()) {
      const TensorImpl* leaf = static_cast<const AccumulateNode&>(node).leaf().impl();
      if (leaf->refs() == 1) tensors_.push_back(leaf);
    }
    for (const Edge& edge : node.edges) {
      if (edge && edge.node->refs() == 1) nodes_.push_back(edge.node.get());
    }
    return 0;
  }

  template <typename T>
  int Ask(const T* object) {
    // A hook's handle refers to the hook as well, but only to take it away.
    const auto* holder = dynamic_cast<const Holder*>(object);
    return holder ? holder->Visit(visit_, arg_) : 0;
  }

  visitproc visit_;
  void* arg_;
  InlineVector<const TensorImpl*, 4> tensors_;
  InlineVector<const Node*, 16> nodes_;
};

}  // namespace

// A thread in the engine may be changing what is looked at here; the collector will come again.

int VisitHeld(const TensorImpl* impl, visitproc visit, void* arg) {
  if (!impl || impl->refs() != 1 || (!impl->autograd && !impl->base) || ThreadsOutside() > 0) return 0;
  return Walk(visit, arg).Tensor(impl);
}

int VisitHeld(const Node* node, visitproc visit, void* arg) {
  if (!node || node->refs() != 1 || ThreadsOutside() > 0) return 0;
  return Walk(visit, arg).Step(node);
}

void ClearHeld(TensorImpl* impl) {
  if (!impl || impl->refs() != 1 || ThreadsOutside() > 0) return;
  const Ref<TensorImpl> base = std::exchange(impl->base, nullptr);
  AutogradMeta* meta = impl->autograd.get();
  if (!meta) return;
  ReleaseGrad(*impl);
  // Taken out first and let go of last: what they hold may run code on its way out.
  const auto hooks = std::exchange(meta->hooks, {}), accumulated_hooks = std::exchange(meta->accumulated_hooks, {});
  const Tensor grad = std::exchange(meta->grad, {});
  const Ref<Node> node = std::exchange(meta->node, nullptr);
}

}  // namespace dragon::python
