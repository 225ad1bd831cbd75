// Looking at a tensor's numbers, or at how they lie: whoever traces hears of it, and they may have to be moved first.
#include "core/framework/batching.h"
#include "core/framework/findings.h"
#include "core/framework/layout.h"
#include "core/framework/op.h"
#include "core/framework/parts.h"

namespace dragon {

NumberTeller*& Teller() {
  static thread_local NumberTeller* teller = nullptr;
  return teller;
}

void Tensor::Observe(const char* how) const {
  if (DRAGON_UNLIKELY(Door().tracer != nullptr) && !impl_->weak) Door().tracer->Observe(*this, how);
}

Tensor Tensor::Detach() const {
  if (DRAGON_UNLIKELY(impl_->parts != nullptr)) {
    TensorParts parts = *impl_->parts;
    for (Tensor& part : parts.tensors) part = part.Detach();
    return MakeOfParts(shape(), std::move(parts));
  }
  if (DRAGON_UNLIKELY(is_meta())) {
    if (Tensor stand_in = DetachSlices(*this)) return stand_in;
  }
  const LayoutReaders reading(*this);
  Tensor alias = Alias(shape(), strides(), offset(), dtype());
  alias.impl()->free_layout.store(impl_->free_layout.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return alias;
}

Tensor Tensor::Scalar(const Value& number, DType dtype) {
  Tensor tensor = Empty({}, dtype);
  if (DRAGON_UNLIKELY(Door().tracer != nullptr)) Door().tracer->Made(tensor);
  void* data = tensor.mutable_data();
  Visit(dtype, StoredTypes{}, [&]<typename Tag>(Tag) {
    using T = typename Tag::type;
    T& place = *static_cast<T*>(data);
    if constexpr (kIsComplex<T>) {
      place = T(number.complex());
    } else if constexpr (std::is_same_v<T, bool>) {
      place = number.real() != 0 || number.complex().im != 0;
    } else if constexpr (std::is_integral_v<T>) {
      const bool complex = number.kind() == Value::Kind::kComplex;
      place = static_cast<T>(complex ? static_cast<int64_t>(number.real()) : number.integer());
    } else {
      place = static_cast<T>(static_cast<Wide<T>>(number.real()));
    }
  });
  return tensor;
}

Value Tensor::Item() const {
  if (DRAGON_UNLIKELY(Door().tracer != nullptr)) {
    if (const std::optional<Value> told = Teller() ? Teller()->Tell(*this) : std::nullopt) return *told;
    Observe("its value as a Python or C++ number");
  }
  if (numel() != 1) throw ValueError("item").Got("shape ", shape()).Expected("one element");
  if (is_meta()) throw NotImplementedError("item").Got("a meta tensor").Expected("a tensor with numbers");
  if (!device().is_cpu()) return Op<"to_device">(*this, Device{}).Item();
  Value value;
  const void* place = data();
  Visit(dtype(), StoredTypes{}, [&]<typename Tag>(Tag) {
    using T = typename Tag::type;
    const T number = *static_cast<const T*>(place);
    if constexpr (kIsComplex<T>) {
      value = Value(complex128(number));
    } else if constexpr (kIsFloating<T>) {
      value = Value(static_cast<double>(static_cast<Wide<T>>(number)));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = Value(number);
    } else if (number > T{} && static_cast<int64_t>(number) < 0) {  // of 64 bits without a sign
      value = Value(static_cast<double>(number));
    } else {
      value = Value(static_cast<int64_t>(number));
    }
  });
  return value;
}

void* Tensor::NoData() const {
  if (!impl_->parts) return nullptr;
  throw TypeError("tensor")
      .Got("one of layout ", impl_->parts->layout, ", which has no memory of its own")
      .Expected("a strided one: to_dense() makes it");
}

void Tensor::Settle() const {
  TensorImpl& me = *impl_;
  if (DRAGON_LIKELY(!me.free_layout.load(std::memory_order_acquire))) return;
  const LayoutWriter moving(&me);
  if (!me.free_layout.load(std::memory_order_acquire)) return;  // another thread was here before
  if (me.contiguous || !me.storage) {                           // a meta tensor has nothing to move
    me.strides = ContiguousStrides(me.shape);
    me.contiguous = true;
    me.free_layout.store(false, std::memory_order_release);
    return;
  }
  GradMode off(false);
  // A fresh result has version 0; writing into a destination would count as a write, and the loop below go round.
  // Whoever observes the strides may stand below a trace; the trace must hear of the move all the same.
  const Tensor before = Detach();
  const Tensor row_major = Door().tracer ? Door().tracer->Settle(before) : Op<"to_row_major">(before);
  VersionCounter& version = row_major.impl()->storage->version;
  while (version.value() != me.version_value()) version.Bump();  // the same numbers: nobody wrote them
  me.storage = row_major.impl()->storage;
  me.strides = row_major.strides();
  me.offset = 0;
  me.contiguous = true;
  me.free_layout.store(false, std::memory_order_release);
}

}  // namespace dragon
