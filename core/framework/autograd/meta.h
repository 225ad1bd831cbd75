// Autograd's books of one tensor.
#pragma once

#include <vector>

#include "core/framework/autograd/node.h"

namespace dragon {

struct AutogradMeta {
  bool requires_grad = false;  ///< asked for by the user; for computed tensors `node` says it
  bool when_asked = false;     ///< of a leaf: what is computed of it is recorded only where a scope asks for that
  bool of_recorder = false;    ///< seen by another frontend, but of one whose calls are recorded unasked
  bool retain_grad = false;
  bool keeps_saved = false;  ///< gradients use the numbers there were, even if the tensor took other memory since
  Tensor grad;
  Ref<Node> node;                                  ///< what made the tensor
  int32_t output = 0;                              ///< which result of the node it is
  Node* accumulator = nullptr;                     ///< the live AccumulateNode of a leaf, if any (weak)
  std::vector<Ref<TensorHook>> hooks;              ///< of a leaf: on its total gradient
  std::vector<Ref<TensorHook>> accumulated_hooks;  ///< after `grad` was written

  static AutogradMeta& Of(const Tensor& tensor) {
    auto& meta = tensor.impl()->autograd;
    if (!meta) meta = std::make_unique<AutogradMeta>();
    return *meta;
  }
};

}  // namespace dragon
