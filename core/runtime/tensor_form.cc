// Telling people what has changed about a tensor.
#include "core/runtime/tensor_form.h"

#include <sstream>

namespace dragon {

namespace {

const char* Truth(bool value) { return value ? "True" : "False"; }

}  // namespace

TensorForm::TensorForm(const Tensor& tensor) : shape(tensor.shape()), dtype(tensor.dtype()), device(tensor.device()) {
  const TensorImpl& impl = *tensor.impl();
  const LayoutReaders reading(tensor);
  strides = impl.strides;
  offset = impl.offset;
  free_layout = impl.free_layout;
  requires_grad = tensor.requires_grad();
  const Ref<Node> node = GradNode(tensor);
  leaf = !node;
  records_unasked = node && !node->when_asked;
  hooks = Hooks(impl);
  has_grad = HasGrad(impl);
}

std::string TensorForm::Difference(const Tensor& tensor) const {
  std::ostringstream text;
  const TensorImpl& impl = *tensor.impl();
  const LayoutReaders reading(tensor);
  if (impl.dtype != dtype) {
    text << "dtype was " << Name(dtype) << ", now " << Name(impl.dtype);
  } else if (impl.device != device) {
    text << "device was " << device << ", now " << impl.device;
  } else if (!FitsSizes(impl)) {
    text << "shape was " << shape << ", now " << impl.shape;
  } else if (!FitsShape(impl) || impl.free_layout != free_layout) {
    text << "strides were " << strides << ", now " << impl.strides;
  } else if (fixed_place && impl.offset != offset) {
    text << "storage_offset was " << offset << ", now " << impl.offset;
  } else if (tensor.requires_grad() != requires_grad) {
    text << "requires_grad was " << Truth(requires_grad) << ", now " << Truth(!requires_grad);
  } else if (requires_grad && tensor.is_leaf() != leaf) {
    text << "is_leaf was " << Truth(leaf) << ", now " << Truth(!leaf);
  } else if (requires_grad && !FitsNode(GradNode(tensor).get())) {
    text << "was recorded " << (records_unasked ? "unasked, now by a tape" : "by a tape, now unasked");
  } else if (Hooks(impl) != hooks) {
    text << "had " << hooks << " hooks, now " << Hooks(impl);
  } else {
    text << "grad was " << (has_grad ? "there" : "None") << ", now " << (has_grad ? "None" : "there");
  }
  return text.str();
}

std::vector<int> FindAliases(std::span<const Tensor* const> tensors, std::span<const Tensor> others) {
  std::vector<int> found;
  const int count = static_cast<int>(tensors.size());
  for (int i = 0; i < count; ++i) {
    const TensorImpl* mine = tensors[i]->impl();
    if (!mine->storage) continue;
    int same = i, sharing = i, outside = -1;
    for (int j = i - 1; j >= 0; --j) {
      const TensorImpl* other = tensors[j]->impl();
      if (other == mine) same = j;
      if (other->storage == mine->storage) sharing = j;
    }
    for (size_t j = 0; j < others.size() && outside < 0; ++j) {
      if (others[j].impl()->storage == mine->storage) outside = static_cast<int>(j);
    }
    if (same != i || sharing != i || outside >= 0) found.insert(found.end(), {i, same, sharing, outside});
  }
  return found;
}

}  // namespace dragon
