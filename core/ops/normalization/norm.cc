// The gradient of every normalisation as a composition, for derivatives of higher order.
#include "core/ops/normalization/norm.h"

namespace dragon {

namespace {

Tensor MeanOver(const Tensor& x, const Dims& axes) { return axes.empty() ? x : Op<"mean">(x, axes, /*keepdims=*/true); }
Tensor SumOver(const Tensor& x, const Dims& axes) { return axes.empty() ? x : Op<"sum">(x, axes, /*keepdims=*/true); }

}  // namespace

NormGradients DifferentiableNormGradients(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                          const NormShape& shape) {
  const bool fixed = shape.rstd.defined();
  Tensor centered = x, rstd = shape.rstd;
  if (fixed) {
    centered = x - shape.mean;
  } else {
    if (shape.center) centered = x - MeanOver(x, shape.axes);
    rstd = Op<"rsqrt">(MeanOver(centered * centered, shape.axes) + shape.eps);
  }
  const Tensor z = centered * rstd, g = weight.defined() ? dy * weight : dy;
  NormGradients result;
  if (fixed) {
    result.dx = g * rstd;
  } else {
    Tensor inside = g - z * MeanOver(g * z, shape.axes);
    if (shape.center) inside = inside - MeanOver(g, shape.axes);
    result.dx = inside * rstd;
  }
  result.dweight = SumOver(dy * z, shape.parameter_axes);
  result.dbias = SumOver(dy, shape.parameter_axes);
  return result;
}

}  // namespace dragon
