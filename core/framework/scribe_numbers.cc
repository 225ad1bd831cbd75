// Tensors of a few numbers that a program makes of sizes: what it makes of them is computed, also where only shapes are
// wanted, and whoever takes one of them for a number gets one that follows.
#include "core/framework/number.h"
#include "core/framework/scribe.h"

namespace dragon {

namespace {

/// An element in a tensor of its own, over the same memory.
Tensor Place(const Tensor& tensor, int64_t place) {
  int64_t offset = tensor.offset();
  for (int axis = tensor.ndim() - 1; axis >= 0; --axis) {
    offset += place % tensor.shape()[axis] * tensor.strides()[axis];
    place /= tensor.shape()[axis];
  }
  return tensor.Alias({}, {}, offset);
}

bool IsOnHost(const Tensor& tensor) {
  const Storage* storage = tensor.impl()->storage.get();
  return storage && tensor.device().is_cpu() && storage->memory.state() != UnifiedMemory::State::kUninitialized;
}

}  // namespace

Value ElementOf(const Tensor& tensor, int64_t place) {
  if (!IsOnHost(tensor) || place < 0 || place >= tensor.numel()) {
    throw ValueError("size").Got("an element that is not there").Expected("numbers made of sizes, on the host");
  }
  const Value number = Place(tensor, place).Item();
  return number.kind() == Value::Kind::kBool ? Value(int64_t{number.boolean()}) : number;
}

void SetElement(const Tensor& tensor, int64_t place, const Value& number) {
  const DType dtype = tensor.dtype();
  const Value value = IsInexact(dtype) ? Value(number.real()) : number;
  RequireNumber("size", dtype, value);
  Visit(dtype, StoredTypes{}, [&]<typename Tag>(Tag) {
    using T = typename Tag::type;
    T* element = static_cast<T*>(tensor.mutable_data()) + (Place(tensor, place).offset() - tensor.offset());
    if constexpr (kIsComplex<T>) {
      *element = T(value.complex());
    } else if constexpr (kIsFloating<T>) {
      *element = static_cast<T>(static_cast<Wide<T>>(value.real()));
    } else if constexpr (std::is_same_v<T, bool>) {
      *element = value.real() != 0;
    } else {
      *element = static_cast<T>(value.integer());
    }
  });
}

void Scribe::NoteNumbers(const Tensor& tensor, std::span<const std::pair<int32_t, NumberId>> numbers) {
  if (numbers.empty() || !IsListening()) return;
  const TensorId id = IdOf(tensor);
  if (id == kNoTensor || procedure_.steps.empty() || procedure_.steps.back().outputs != std::vector<TensorId>{id} ||
      procedure_.steps.back().kind != ProcedureStep::Kind::kMade) {
    return Fail("numbers that follow sizes in a place that cannot hold them");
  }
  for (const auto& [element, number] : numbers) procedure_.steps.back().follows.push_back({0, element, number});
  open_[id] = true;
}

NumberId Scribe::ElementOf(const Tensor& tensor, int64_t place) {
  if (!IsListening() || tensor.is_meta() || tensor.is_complex()) return -1;
  const auto known = ids_.find(tensor.impl());
  if (known == ids_.end() || !IsOpen(known->second) || trace_->IsOpen(tensor)) return -1;
  if (!IsOnHost(tensor)) {
    Fail("numbers made of sizes that are many, or lie on a device");
    return -1;
  }
  // Who is told of looks would take this one for somebody's who wants an ordinary number.
  const std::function<void(const Tensor&)> looked = std::exchange(trace_->looked, nullptr);
  const Value hint = dragon::ElementOf(tensor, place);
  trace_->looked = looked;
  return sizes().Note(NumberKind::kElement, known->second, static_cast<int32_t>(place), Position(), hint,
                      written_[procedure_.pieces[known->second]]);
}

void Scribe::FixElements(const Tensor& tensor) {
  for (int64_t place = 0; place < tensor.numel(); ++place) {
    const NumberId number = ElementOf(tensor, place);
    if (number < 0) return;
    Fix(number);
  }
}

}  // namespace dragon
