// Collecting the arguments of a call, and the calls that operators make for themselves.
#include "core/framework/op.h"

#include "core/device/numbers.h"
#include "core/framework/promotion.h"

namespace dragon {

Tensor Run::Here(const Tensor& x) const {
  if (DRAGON_LIKELY(ctx_.device.is_cpu()) || !x.defined() || !x.device().is_cpu() || x.numel() != 1) return x;
  return Op<"to_device">(x, ctx_.device);
}

Tensor Run::Contiguous(int i) const {
  Tensor tensor = Here(x(i));
  if (!tensor.defined() || tensor.is_contiguous()) return tensor;
  Tensor copy = Tensor::Empty(tensor.shape(), tensor.dtype(), tensor.device());
  OpInto<"copy">(copy, tensor);
  return copy;
}

View Run::FromElsewhere(const Tensor& x) const {
  View view = x.view();
  if (x.numel() != 1 || !x.device().is_cpu()) return view;  // arguments that the operator itself reads on the host
  view.data = const_cast<void*>(NumberOn(ctx_.device, view.data, x.item_size()));
  return view;
}

// Not in the header: two thousand calls are made by these.
CallBuilder::~CallBuilder() = default;
void CallBuilder::Add(const char* text) { Add(Value(text)); }
void CallBuilder::Add(const std::string& text) { Add(Value(text)); }
void CallBuilder::Add(const Dims& dims) { Add(Value(dims)); }
void CallBuilder::Add(DType dtype) { Add(Value(dtype)); }
void CallBuilder::Add(Device device) { Add(Value(device)); }
void CallBuilder::Add(std::initializer_list<int64_t> dims) { Add(Value(Dims(dims))); }
void CallBuilder::AddNumber(bool value) { Add(Value(value)); }
void CallBuilder::AddNumber(double value) { Add(Value(value)); }
void CallBuilder::AddNumber(int64_t value) { Add(Value(value)); }
Tensor CallBuilder::ApplyForOne() { return std::move(Apply()[0]); }

const Argument& CallBuilder::Next(bool tensor) {
  const auto& arguments = op_.schema.arguments();
  if (position_ >= arguments.size()) {
    throw TypeError(op_.name()).Got(position_ + 1, " arguments").Expected("at most ", arguments.size());
  }
  const Argument& argument = arguments[position_++];
  if (argument.is_tensor() != tensor) {
    throw TypeError(op_.name())
        .Got(tensor ? "a tensor" : "an attribute", " for argument '", argument.name, "'")
        .Expected(argument.type_name());
  }
  return argument;
}

void CallBuilder::Add(const Tensor& tensor) {
  const Argument& argument = Next(true);
  if (argument.type == ArgumentType::kTensorList) list_sizes_.push_back(1);
  if (!tensor.defined() && !argument.optional) {
    throw TypeError(op_.name()).Got("None for argument '", argument.name, "'").Expected("a tensor");
  }
  inputs_.push_back(tensor);
}

void CallBuilder::Add(std::span<const Tensor> tensors) {
  Next(true);
  list_sizes_.push_back(static_cast<int32_t>(tensors.size()));
  for (const Tensor& tensor : tensors) inputs_.push_back(tensor);
}

void CallBuilder::Add(NoneType) {
  if (op_.schema.arguments().at(position_).is_tensor()) {
    Add(Tensor());
  } else {
    Next(false);
    attrs_.emplace_back();
  }
}

void CallBuilder::Add(Value value) {
  const Argument& argument = Next(false);
  if (argument.type == ArgumentType::kInts && value.kind() == Value::Kind::kInt) {
    value = Value(Dims::Filled(std::max(argument.repeat, 1), value.integer()));
  }
  attrs_.push_back(std::move(value));
}

Tensors CallBuilder::Apply(std::span<const Tensor> outs) {
  const auto& arguments = op_.schema.arguments();
  for (; position_ < arguments.size(); ++position_) {
    const Argument& argument = arguments[position_];
    if (!argument.has_default && !argument.optional) {
      throw TypeError(op_.name()).Got("no argument '", argument.name, "'").Expected(argument.type_name());
    }
    if (argument.type == ArgumentType::kTensorList) {
      list_sizes_.push_back(0);
    } else if (argument.is_tensor()) {
      inputs_.emplace_back();
    } else {
      attrs_.push_back(argument.default_value);
    }
  }
  return dragon::Apply(Call{&op_, inputs_, attrs_, list_sizes_}, outs);
}

Tensor Number(const Value& value) {
  DType dtype = value.number_dtype();
  // float32 tensors meet their own dtype wherever that keeps every digit: then nothing has to be cast.
  const double real = value.real();
  if (dtype == DType::kFloat64 && DefaultDType() == DType::kFloat32 &&
      (static_cast<float>(real) == real || real != real)) {
    dtype = DType::kFloat32;
  }
  Tensor tensor = Tensor::Scalar(value, dtype);
  tensor.impl()->weak = true;
  return tensor;
}

}  // namespace dragon
