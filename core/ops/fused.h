// What fused convolutions and products share: names of activations, weights in blocks, and the tail done by itself.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/fused.h"
#include "core/kernels/math.h"

namespace dragon::fused {

/// The attributes at the end of every fused operator.
inline constexpr const char* kTailArguments =
    "str activation=\"none\", float alpha=0.0, float beta=0.0, int[] weight_shape=[], str weight_layout=\"\"";

struct ActivationRow {
  const char* name;
  FusedActivation kind;
};
inline constexpr ActivationRow kActivations[] = {
    {"none", FusedActivation::kNone},
    {"relu", FusedActivation::kRelu},
    {"leaky_relu", FusedActivation::kLeakyRelu},
    {"hardtanh", FusedActivation::kHardtanh},
    {"elu", FusedActivation::kElu},
    {"hardsigmoid", FusedActivation::kHardsigmoid},
    {"hardswish", FusedActivation::kHardswish},
    {"sigmoid", FusedActivation::kSigmoid},
    {"silu", FusedActivation::kSilu},
    {"tanh", FusedActivation::kTanh},
    {"gelu", FusedActivation::kGelu},
    {"gelu_tanh", FusedActivation::kGeluTanh},
};

inline const ActivationRow& ActivationOf(const CallReader& c) {
  for (const ActivationRow& row : kActivations) {
    if (c.String("activation") == row.name) return row;
  }
  std::string names;
  for (const ActivationRow& row : kActivations) names += std::string(names.empty() ? "" : ", ") + row.name;
  throw ValueError(c.name()).Got("activation '", c.String("activation"), "'").Expected("one of ", names);
}

inline bool IsPacked(const CallReader& c) { return !c.String("weight_layout").empty(); }

/// The shape of the weights, whose memory may be arranged in blocks.
inline const Dims& WeightShapeOf(const CallReader& c) {
  return IsPacked(c) ? c.Ints("weight_shape") : c.x("weight").shape();
}

inline WeightLayout LayoutOf(const CallReader& c) {
  WeightLayout layout;
  if (!IsPacked(c)) return layout;
  const std::string& name = c.String("weight_layout");
  std::memcpy(layout.name, name.data(), name.size());  // its length was checked by Infer
  layout.bytes = c.x("weight").numel() * c.x("weight").item_size();
  return layout;
}

/// The weights' shape over whatever memory they have.
inline OwnedView WeightOf(const Run& r) {
  const View given = r.in("weight");
  if (!IsPacked(r)) return OwnedView(given.data, given.dtype, r.x("weight").shape(), r.x("weight").strides());
  const Dims& shape = WeightShapeOf(r);
  return OwnedView(given.data, given.dtype, shape, ContiguousStrides(shape));
}

inline FusedTail TailOf(const Run& r, const View& residual) {
  return {residual, ActivationOf(r).kind, r.Real("alpha"), r.Real("beta")};
}

/// Everything but the fit of the operands' shapes: dtypes, the activation, how the weights are arranged.
inline void CheckTail(const CallReader& c, int weight_ndim) {
  for (int i = 1; i < c.x_count(); ++i) {
    if (!c.has(i) || c.x(i).dtype() == c.x("x").dtype()) continue;
    throw TypeError(c.name()).Got(c.x("x").dtype(), " and ", c.x(i).dtype()).Expected("equal dtypes");
  }
  ActivationOf(c);
  if (IsPacked(c)) {
    const bool fits = c.String("weight_layout").size() < WeightLayout::kSize && c.x("weight").ndim() == 1;
    if (!fits || !c.x("weight").is_contiguous()) {
      throw ValueError(c.name())
          .Got("weights ", c.x("weight").shape(), " in layout '", c.String("weight_layout"), "'")
          .Expected("one axis of memory in a layout of less than ", WeightLayout::kSize, " letters");
    }
    CheckedNumel(c.name(), c.Ints("weight_shape"), c.x("x").item_size());
  }
  if (WeightShapeOf(c).size() != weight_ndim) {
    throw ValueError(c.name()).Got("weight ", WeightShapeOf(c)).Expected(weight_ndim, " axes");
  }
}

inline void CheckResidual(const CallReader& c, const Dims& shape) {
  if (!c.has("residual") || c.x("residual").shape() == shape) return;
  throw ValueError(c.name()).Got("residual ", c.x("residual").shape()).Expected("the result's shape ", shape);
}

/// Weights laid out as their shape says, unpacked if need be.
class PlainWeight {
 public:
  PlainWeight(Run& r, int64_t groups) : given_(WeightOf(r)) {
    if (!IsPacked(r)) return;
    if (!kernels::PackWeight.Has(r.ctx().device.type, r.dtype())) {
      throw NotImplementedError(r.name())
          .Got("weights in layout '", r.String("weight_layout"), "', which oneDNN arranged")
          .Expected("weights as their shape says: this build is without oneDNN");
    }
    scratch_.emplace(r.ctx().Allocate<char>(std::max<int64_t>(given_.view.numel, 1) * ItemSize(given_.view.dtype)));
    given_.view.data = scratch_->data();
    kernels::PackWeight(r.ctx(), r.dtype(), r.in("weight"), given_.view, groups, LayoutOf(r), /*back=*/true);
  }
  const View& view() const { return given_.view; }

 private:
  OwnedView given_;
  std::optional<Scratch> scratch_;
};

/// The results of a packing operator: argument 0 so arranged, and the layout's letters.
inline void SetPacked(Run& r, int64_t groups, const WeightLayout& layout) {
  const Tensor& w = r.x(0);
  const int64_t letters = static_cast<int64_t>(std::strlen(layout.name));
  const Tensor packed = Tensor::Empty({layout.bytes / w.item_size()}, w.dtype(), w.device());
  const Tensor name = Tensor::Empty({letters}, DType::kUInt8);
  std::memcpy(name.mutable_data(), layout.name, letters);
  if (layout) {
    kernels::PackWeight(r.ctx(), r.dtype(), packed.mutable_view(), r.in(0), groups, layout, /*back=*/false);
  }
  r.set_y(0, packed);
  r.set_y(1, name);
}

/// y = activation(y + residual), where the product's own kernel could not do it.
inline void RunTail(Run& r, const FusedTail& tail) {
  static const kernels::Binary add{"add"};
  static const kernels::Unary sigmoid{"sigmoid"}, tanh{"tanh"};
  using Kernel = dragon::Kernel<void(View y, View x, double a, double b)>;  // that of core/kernels/activation.h
  static const Kernel relu{"relu"}, leaky_relu{"leaky_relu"}, hardtanh{"hardtanh"}, elu{"elu"},
      hardsigmoid{"hardsigmoid"}, hardswish{"hardswish"}, silu{"silu"}, gelu{"gelu"}, gelu_tanh{"gelu_tanh"};
  const View y = r.out();
  if (tail.residual) add(r.ctx(), r.dtype(), y, y, tail.residual);
  const auto run = [&](const Kernel& kernel, double b = 0) { kernel(r.ctx(), r.dtype(), y, y, tail.alpha, b); };
  switch (tail.activation) {
    case FusedActivation::kNone:
      return;
    case FusedActivation::kRelu:
      return run(relu);
    case FusedActivation::kLeakyRelu:
      return run(leaky_relu);
    case FusedActivation::kHardtanh:
      return run(hardtanh, tail.beta);
    case FusedActivation::kElu:
      return run(elu, 1);
    case FusedActivation::kHardsigmoid:
      return run(hardsigmoid);
    case FusedActivation::kHardswish:
      return run(hardswish);
    case FusedActivation::kSigmoid:
      return sigmoid(r.ctx(), r.dtype(), y, y);
    case FusedActivation::kSilu:
      return run(silu);
    case FusedActivation::kTanh:
      return tanh(r.ctx(), r.dtype(), y, y);
    case FusedActivation::kGelu:
      return run(gelu);
    case FusedActivation::kGeluTanh:
      return run(gelu_tanh);
  }
}

}  // namespace dragon::fused
