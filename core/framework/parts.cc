// Who computes with tensors that are made of others, and whether there are any.
#include "core/framework/parts.h"

#include <algorithm>
#include <limits>

#include "core/framework/autograd/meta.h"

namespace dragon {

namespace {

PartsHandler& Handler() {
  static auto* handler = new PartsHandler;  // never destroyed: it may hold objects of an interpreter that is gone
  return *handler;
}

bool IsOfParts(const Tensor& x) { return x.defined() && x.impl()->parts; }

}  // namespace

Tensor MakeOfParts(const Dims& shape, TensorParts parts) {
  const Tensor& numbers = parts.tensors.back();
  auto impl = MakeRef<TensorImpl>();
  impl->shape = shape;
  impl->strides = Dims::Filled(shape.size(), 0);
  impl->dtype = numbers.dtype();
  impl->device = numbers.device();
  impl->contiguous = false;
  // The number of elements that the shape speaks of, which may be more than any memory holds.
  int64_t numel = 1;
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(numel, size, &numel)) numel = std::numeric_limits<int64_t>::max();
  }
  impl->numel = numel;
  impl->parts = std::make_shared<TensorParts>(std::move(parts));
  ThereAreParts().store(true, std::memory_order_relaxed);
  return Tensor(std::move(impl));
}

void SetPartsHandler(PartsHandler handler) { Handler() = std::move(handler); }

std::atomic<bool>& ThereAreParts() {
  static std::atomic<bool> there_are{false};
  return there_are;
}

bool AnyOfParts(const Call& call, std::span<const Tensor> outs) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), IsOfParts) ||
         std::any_of(outs.begin(), outs.end(), IsOfParts);
}

Tensors ApplyToParts(const Call& call, std::span<const Tensor> outs) {
  if (Handler()) return Handler()(call, outs);
  throw NotImplementedError(call.name())
      .Got("a tensor that is made of parts, such as a sparse one")
      .Expected("strided tensors");
}

}  // namespace dragon
