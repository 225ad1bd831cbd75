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
inline void RequireTensor(const CallReader& c, ArgumentName name, const Dims& shape, DType dtype) {
  if (!c.has(name)) return;
  const Tensor& x = c.x(name);
  if (x.shape() == shape && x.dtype() == dtype) return;
  throw ValueError(c.name())
      .Got(name.text, " of shape ", x.shape(), " and dtype ", x.dtype())
      .Expected("shape ", shape, " and dtype ", dtype);
}

inline void RequireRank(const CallReader& c, ArgumentName name, int rank) {
  if (c.x(name).ndim() == rank && c.x(name).is_floating()) return;
  throw ValueError(c.name())
      .Got(name.text, " of shape ", c.x(name).shape(), " and dtype ", c.x(name).dtype())
      .Expected(rank, " axes and a floating dtype");
}

/// x where that is positive, else 0.
inline Tensor Positive(const Tensor& x) { return Op<"clamp">(x, Number(0.0)); }

/// log(1 + exp(x)), for x of any size, differentiable as often as one likes.
inline Tensor SoftPlus(const Tensor& x) { return Op<"logaddexp">(x, Number(0.0)); }

}  // namespace dragon
