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

/// x where that is positive, else 0.
inline Tensor Positive(const Tensor& x) { return Op<"clamp">(x, Number(0.0)); }

/// log(1 + exp(x)), for x of any size, differentiable as often as one likes.
inline Tensor SoftPlus(const Tensor& x) { return Op<"logaddexp">(x, Number(0.0)); }

}  // namespace dragon
