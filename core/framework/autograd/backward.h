// Running the backward graph.
#pragma once

#include <vector>

#include "core/framework/autograd/node.h"

namespace dragon {

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;
  bool stop_at_inputs = false;  ///< what lies behind a wanted tensor gets nothing through it
};

/// Accumulate the gradients of `roots` into the leaves' `grad`. An undefined gradient of a scalar root is 1.
DRAGON_API void Backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                         const BackwardOptions& options, const std::vector<Tensor>& only_into = {});
/// The gradients of `roots` with respect to `inputs`; nothing is accumulated.
DRAGON_API std::vector<Tensor> Gradients(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                                         const std::vector<Tensor>& inputs, const BackwardOptions& options);

DRAGON_API void RegisterHook(const Tensor& tensor, Ref<TensorHook> hook);
DRAGON_API void RemoveHook(const Tensor& tensor, const Ref<TensorHook>& hook);
/// Keep the gradient of a computed tensor in its `grad`.
DRAGON_API void RetainGrad(const Tensor& tensor);

}  // namespace dragon
