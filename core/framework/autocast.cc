// Casts before operators that gain from 16 bits or need 32, as each says of itself, recorded like any other call.
#include "core/framework/autocast.h"

#include <unordered_map>

#include "core/framework/op.h"

namespace dragon {

namespace {

class Autocast final : public Interpreter {
 public:
  ~Autocast() override {
    if (dtype_) Leave();
  }
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override;
  bool passes_whole() const override { return true; }
  std::optional<DType> dtype() const { return dtype_; }
  void Set(std::optional<DType> dtype);
  void Clear() { kept_.clear(); }
  bool keeping = true;

 private:
  struct Kept {
    Tensor weight, cast;
    uint32_t version;
  };
  Tensor Cast(const Tensor& x, DType dtype);

  std::optional<DType> dtype_;
  bool inside_ = false;  ///< an operator whose inputs were cast is being computed
  std::unordered_map<TensorImpl*, Kept> kept_;
};

void Autocast::Set(std::optional<DType> dtype) {
  if (dtype && *dtype != DType::kBFloat16 && *dtype != DType::kFloat16) {
    throw ValueError("autocast").Got(*dtype).Expected("bfloat16 or float16");
  }
  if (dtype == dtype_) return;
  Clear();
  if (dtype && !dtype_) Enter();
  if (!dtype && dtype_) Leave();
  dtype_ = dtype;
}

Tensor Autocast::Cast(const Tensor& x, DType dtype) {
  if (!x.defined() || !x.is_floating() || x.dtype() == dtype || x.dtype() == DType::kFloat64) return x;
  const bool keep =
      keeping && dtype == *dtype_ && Door().grad_enabled && !x.impl()->base && x.requires_grad() && x.is_leaf();
  if (!keep) return Op<"cast">(x, dtype);
  const uint32_t version = x.impl()->version_value();
  const auto [place, fresh] = kept_.try_emplace(x.impl());
  if (fresh || place->second.version != version) place->second = {x, Op<"cast">(x, dtype), version};
  return place->second.cast;
}

Tensors Autocast::Handle(const Call& call, std::span<const Tensor> outs) {
  const Precision policy = inside_ || !outs.empty() ? Precision::kAsGiven : call.op->autocast;
  if (policy == Precision::kAsGiven) return Through(call, outs);
  struct Inside {
    explicit Inside(bool* flag) : flag(flag) { *flag = true; }
    ~Inside() { *flag = false; }
    bool* flag;
  } inside(&inside_);
  if (policy == Precision::kPlain) return Through(call, outs);
  InlineVector<Tensor, 4> inputs(call.inputs);
  for (Tensor& x : inputs) x = Cast(x, policy == Precision::kLower ? *dtype_ : DType::kFloat32);
  return Through(Call{call.op, inputs, call.attrs, call.list_sizes}, outs);
}

Autocast& Mine() {
  thread_local Autocast autocast;
  return autocast;
}

}  // namespace

std::optional<DType> AutocastDType() { return Mine().dtype(); }

std::optional<DType> SetAutocast(std::optional<DType> dtype) {
  const auto previous = Mine().dtype();
  Mine().Set(dtype);
  return previous;
}

bool SetAutocastCache(bool enabled) { return std::exchange(Mine().keeping, enabled); }

void ClearAutocastCache() { Mine().Clear(); }

}  // namespace dragon
