// Who reads how a tensor lies in memory, while others may move it there: a result whose strides were the engine's
// choice is brought into row-major order by the first call that looks at them, in whatever thread (Tensor::Settle).
#pragma once

#include <span>

#include "core/framework/tensor.h"

namespace dragon {

/// While it lives, none of these tensors is moved by another thread. Costs a load for each one; tensors whose strides
/// are nobody's choice are the only ones that are ever moved.
class DRAGON_API LayoutReaders {
 public:
  explicit LayoutReaders(std::span<const Tensor> tensors) {
    for (const Tensor& x : tensors) {
      if (x.defined() && DRAGON_UNLIKELY(x.impl()->free_layout.load(std::memory_order_acquire))) Enter(x.impl());
    }
  }
  explicit LayoutReaders(const Tensor& tensor) : LayoutReaders(std::span<const Tensor>(&tensor, 1)) {}
  ~LayoutReaders() {
    if (DRAGON_UNLIKELY(count_ > 0)) Leave();
  }
  LayoutReaders(const LayoutReaders&) = delete;
  LayoutReaders& operator=(const LayoutReaders&) = delete;

 private:
  void Enter(TensorImpl* impl);
  void Leave();

  int count_ = 0;  ///< the last so many of this thread's entries are ours
};

/// While it lives, no other thread reads how this tensor lies.
class LayoutWriter {
 public:
  /// Waits for readers of other threads.
  explicit LayoutWriter(TensorImpl* impl);
  ~LayoutWriter();
  LayoutWriter(const LayoutWriter&) = delete;
  LayoutWriter& operator=(const LayoutWriter&) = delete;

 private:
  TensorImpl* impl_;
  const TensorImpl* before_;
  int own_;
};

}  // namespace dragon
