// What the normalising operators share: dtypes of statistics, parameters, and a gradient that has gradients.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

/// What statistics of `dtype` are kept in.
inline DType StatisticsDType(DType dtype) { return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

inline void RequireFloating(const CallReader& c) {
  if (!IsFloating(c.x("x").dtype())) throw TypeError(c.name()).Got(c.x("x").dtype()).Expected("a floating dtype");
}

/// A parameter in the dtype of x: 16-bit inputs may come with float32 parameters, nothing else may differ.
inline Tensor ParameterLike(const CallReader& c, const Tensor& parameter) {
  if (!parameter.defined()) return parameter;
  const DType dtype = c.x("x").dtype();
  if (parameter.dtype() == dtype) return parameter;
  if (StatisticsDType(dtype) != parameter.dtype()) {
    throw TypeError(c.name())
        .Got("parameters of ", parameter.dtype(), " for an input of ", dtype)
        .Expected("one dtype for both");
  }
  return Op<"cast">(parameter, dtype);
}

inline void CheckParameter(const CallReader& c, ArgumentName name, const Dims& shape) {
  if (!c.has(name) || c.x(name).shape() == shape) return;
  throw ValueError(c.name()).Got(name.text, " of shape ", c.x(name).shape()).Expected("shape ", shape);
}

/// Backward operators are open to everybody, so they check what their forward operator would have given them.
inline void RequireShape(const CallReader& c, ArgumentName name, const Dims& shape, DType dtype) {
  const Tensor& x = c.x(name);
  if (!x.defined() || (x.shape() == shape && x.dtype() == dtype)) return;
  throw ValueError(c.name())
      .Got(name.text, " of shape ", x.shape(), " and dtype ", x.dtype())
      .Expected("shape ", shape, " and dtype ", dtype);
}

/// Nobody may differentiate the statistics that a forward pass hands to its backward pass.
inline void RefuseStatistics(const Grad& g) {
  const int results = static_cast<int>(g.op().schema.returns().size());
  for (int k = 1; k < results; ++k) {
    if (!g.dy(k).defined()) continue;
    throw NotImplementedError(g.name())
        .Got("a gradient for result '", g.op().schema.returns()[k], "'")
        .Expected("one for 'out' only (var_mean has gradients for statistics)");
  }
}

struct NormGradients {
  Tensor dx, dweight, dbias;
};

/// How one family normalises: over which axes, with parameters along which others.
struct NormShape {
  Dims axes, parameter_axes;  ///< statistics are taken over `axes`; parameter gradients summed over `parameter_axes`
  bool center = true;         ///< false for root-mean-square norm
  double eps = 0;
  Tensor mean, rstd;  ///< fixed statistics (batch norm in evaluation), else computed from x
};

/// The gradient in terms of differentiable operators only: slower than a backward kernel, but itself differentiable as
/// often as one likes. `weight` broadcasts against x.
NormGradients DifferentiableNormGradients(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                          const NormShape& shape);

}  // namespace dragon
