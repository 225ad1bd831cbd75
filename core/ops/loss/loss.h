// What losses share: the last step, which reduces the single errors to one number.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

/// The mean or sum of `errors`, or the errors themselves for "none".
inline Tensor ReduceLoss(const char* who, const Tensor& errors, const std::string& reduction) {
  if (reduction == "mean") return Op<"mean">(errors);
  if (reduction == "sum") return Op<"sum">(errors);
  if (reduction == "none") return errors;
  throw ValueError(who).Got("reduction '", reduction, "'").Expected("'mean', 'sum' or 'none'");
}

inline void CheckReduction(const char* who, const std::string& reduction) {
  if (reduction == "mean" || reduction == "sum" || reduction == "none") return;
  throw ValueError(who).Got("reduction '", reduction, "'").Expected("'mean', 'sum' or 'none'");
}

/// Inner operators are open to everybody: they check what the outer ones prepare for them.
inline void RequireTensor(const CallReader& c, int slot, const Dims& shape, DType dtype) {
  if (!c.has(slot)) return;
  const Tensor& x = c.x(slot);
  if (x.shape() == shape && x.dtype() == dtype) return;
  throw ValueError(c.name())
      .Got(c.op().schema.tensor(slot).name, " of shape ", x.shape(), " and dtype ", x.dtype())
      .Expected("shape ", shape, " and dtype ", dtype);
}

inline void RequireRank(const CallReader& c, int slot, int rank) {
  if (c.x(slot).ndim() == rank && c.x(slot).is_floating()) return;
  throw ValueError(c.name())
      .Got(c.op().schema.tensor(slot).name, " of shape ", c.x(slot).shape(), " and dtype ", c.x(slot).dtype())
      .Expected(rank, " axes and a floating dtype");
}

/// x where that is positive, else 0.
inline Tensor Positive(const Tensor& x) { return Op<"clamp">(x, Number(0.0)); }

/// log(1 + exp(x)), for x of any size, differentiable as often as one likes.
inline Tensor SoftPlus(const Tensor& x) { return Op<"logaddexp">(x, Number(0.0)); }

}  // namespace dragon
