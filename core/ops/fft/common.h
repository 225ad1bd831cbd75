// What the Fourier operators share: norms, lengths and axes as NumPy and PyTorch name them.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon::fft {

/// 1, 1 / n or 1 / sqrt(n). "backward" (the default) leaves the forward transform bare, "forward" the other one.
double Scale(const CallReader& c, const Value& norm, bool forward, double n);

/// Integers become floats; 16-bit floats have no transform.
Tensor AsFloat(const CallReader& c, const Tensor& x);
Tensor AsComplex(const CallReader& c, const Tensor& x);

/// The axis cut or filled with zeros to a size of n, which must be positive.
Tensor Resized(const CallReader& c, const Tensor& x, int64_t axis, int64_t n);

/// Axes and their transformed sizes, from the optional `s` and `axis` of an n-dimensional transform.
struct Plan {
  Dims axes, sizes;
  double numel() const;
};
/// Without both, every axis; without axes, the last ones. A size of -1 keeps the axis. `last_doubles`: where s is not
/// given, the last axis holds half a spectrum, n / 2 + 1 numbers of n.
Plan PlanOf(const CallReader& c, const Tensor& x, const Value& s, const Value& axes, bool last_doubles);

}  // namespace dragon::fft
