// What a graph takes for granted about a tensor, its numbers apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/framework/autograd/meta.h"
#include "core/framework/layout.h"

namespace dragon {

struct DRAGON_API TensorForm {
  explicit TensorForm(const Tensor& tensor);

  /// Inline: asked for every tensor before each run.
  bool Fits(const Tensor& tensor) const {
    const TensorImpl& impl = *tensor.impl();
    const LayoutReaders reading(tensor);
    return impl.dtype == dtype && impl.device == device && impl.free_layout == free_layout && FitsShape(impl) &&
           (!fixed_place || impl.offset == offset) && FitsHistory(tensor);
  }
  /// The first difference, for people: "dtype was float32, now int64".
  std::string Difference(const Tensor& tensor) const;

  Dims shape, strides;
  DType dtype;
  Device device;
  int64_t offset = 0;
  size_t hooks = 0;
  bool free_layout, requires_grad, leaf, has_grad;
  bool records_unasked;       ///< of one that requires grad and is no leaf
  bool watches_grad = false;  ///< whether somebody reads or writes `.grad`
  bool fixed_place = false;   ///< whether somebody looks at the offset
  uint64_t open_axes = 0;     ///< bit i: the size of axis i may be any; then the tensor must be row-major

 private:
  static size_t Hooks(const TensorImpl& impl) {
    return impl.autograd ? impl.autograd->hooks.size() + impl.autograd->accumulated_hooks.size() : 0;
  }
  static bool HasGrad(const TensorImpl& impl) { return impl.autograd && impl.autograd->grad.defined(); }
  bool FitsSizes(const TensorImpl& impl) const {
    if (!open_axes) return impl.shape == shape;
    if (impl.shape.size() != shape.size()) return false;
    for (int i = 0; i < shape.size(); ++i) {
      if (impl.shape[i] != shape[i] && !(open_axes >> i & 1)) return false;
    }
    return true;
  }
  bool FitsShape(const TensorImpl& impl) const {
    if (!FitsSizes(impl)) return false;
    if (open_axes) return impl.contiguous;
    for (int i = 0; i < shape.size(); ++i) {
      if (impl.strides[i] != strides[i] && shape[i] != 1) return false;  // a size of 1 is never stepped over
    }
    return true;
  }
  bool FitsNode(const Node* node) const { return node ? !leaf && node->when_asked != records_unasked : leaf; }
  bool FitsHistory(const Tensor& tensor) const {
    const TensorImpl& impl = *tensor.impl();
    return tensor.requires_grad() == requires_grad && (!requires_grad || FitsNode(GradNode(tensor).get())) &&
           Hooks(impl) == hooks && (!watches_grad || HasGrad(impl) == has_grad);
  }
};

/// Which tensors share memory: for each one that does not have its own, four numbers. Its own, that of the first one
/// that is the same tensor, of the first one over the same memory, and of the first one among `others` that is (-1:
/// none).
DRAGON_API std::vector<int> FindAliases(std::span<const Tensor* const> tensors, std::span<const Tensor> others);

}  // namespace dragon
