// Checks and layouts of optimizer updates.
#include "core/ops/training/update.h"

#include <exception>

namespace dragon {

namespace {

void CheckCount(const CallReader& c, int list, size_t wanted, bool optional) {
  const size_t got = c.list(list).size();
  if (got == wanted || (optional && got == 0)) return;
  throw ValueError(c.name())
      .Got(got, " tensors in '", c.op().schema.tensor(list).name, "'")
      .Expected(wanted, ", the number of parameters");
}

void CheckLike(const CallReader& c, int list, int64_t i, const Tensor& x, const Tensor& param) {
  if (x.shape() == param.shape() && x.dtype() == param.dtype() && x.device() == param.device()) return;
  throw ValueError(c.name())
      .Got(c.op().schema.tensor(list).name, "[", i, "] of shape ", x.shape(), ", ", x.dtype(), " on ", x.device())
      .Expected("shape ", param.shape(), ", ", param.dtype(), " on ", param.device(), " as the parameter has");
}

void CheckNumber(const CallReader& c, int list, int64_t i, const Tensor& x) {
  if (x.numel() == 1 && (IsFloating(x.dtype()) || IsIntegral(x.dtype()))) return;
  throw ValueError(c.name())
      .Got(c.op().schema.tensor(list).name, "[", i, "] of shape ", x.shape(), ", ", x.dtype())
      .Expected("a single real number");
}

}  // namespace

void CheckUpdate(const CallReader& c, const UpdateLists& lists) {
  const auto params = c.list(0);
  const size_t count = params.size();
  for (size_t i = 0; i < count; ++i) {
    if (IsFloating(params[i].dtype())) continue;
    throw TypeError(c.name()).Got("params[", i, "] of ", params[i].dtype()).Expected("a floating dtype");
  }
  for (int list = 1; list < 2 + lists.states; ++list) {
    CheckCount(c, list, count, list >= 2 && (lists.optional >> (list - 2) & 1));
    const auto tensors = c.list(list);
    for (size_t i = 0; i < tensors.size(); ++i) CheckLike(c, list, i, tensors[i], params[i]);
  }
  const int after = 2 + lists.states;
  for (int list = after; list < after + lists.numbers + lists.steps; ++list) {
    const bool steps = list == after + lists.numbers;
    if (!steps || c.list(list).size() != 1) CheckCount(c, list, count, false);
    for (size_t i = 0; i < c.list(list).size(); ++i) CheckNumber(c, list, i, c.list(list)[i]);
  }
}

double ReadNumber(const Tensor& x) {
  if (x.dtype() == DType::kFloat32 && x.device().is_cpu()) return *static_cast<const float*>(x.data());
  return x.Item().real();
}

void WriteNumber(const Tensor& x, double value) {
  if (x.dtype() == DType::kFloat32 && x.device().is_cpu()) {
    *static_cast<float*>(x.mutable_data()) = static_cast<float>(value);
  } else {
    OpInto<"copy">(x.Detach(), Op<"to_device">(Tensor::Scalar(value, DType::kFloat64), x.device()));
  }
}

Tensor Update::Arranged(const Tensor& x, bool row_major, bool written) {
  if (!row_major || x.is_contiguous()) return x;
  const Tensor copy = Op<"to_row_major">(x);
  if (written) copies_.emplace_back(x.Detach(), copy);
  return copy;
}

Update::Update(Run& r, const UpdateLists& lists) {
  const auto params = r.list(0);
  states_.resize(lists.states);
  for (size_t i = 0; i < params.size(); ++i) {
    // All tensors of a parameter are walked in the order of memory: fine if they agree on it and have no gaps.
    bool agree = IsDense(params[i].shape(), params[i].strides());
    for (int list = 1; list < 2 + lists.states; ++list) {
      if (!r.list(list).empty()) agree &= r.list(list)[i].strides() == params[i].strides();
    }
    params_.push_back(Arranged(params[i], !agree, true));
    grads_.push_back(Arranged(r.list(1)[i], !agree, false));
    for (int k = 0; k < lists.states; ++k) {
      if (!r.list(2 + k).empty()) states_[k].push_back(Arranged(r.list(2 + k)[i], !agree, true));
    }
  }
  if (!lists.steps) return;
  for (const Tensor& counter : r.list(2 + lists.states + lists.numbers)) {
    steps_.push_back(ReadNumber(counter) + 1);
    WriteNumber(counter, steps_.back());
  }
}

Update::~Update() noexcept(false) {
  if (std::uncaught_exceptions() > 0) return;
  for (const auto& [to, from] : copies_) OpInto<"copy">(to, from);
}

}  // namespace dragon
