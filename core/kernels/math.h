// Pointwise mathematics: the kernels are found by their operators' names, one handle type for each number of operands.
//
//   static const kernels::Unary exp{"exp"};
//   exp(ctx, DType::kFloat32, y, x);
//
// The dtype is the one computed in. Views may be of other dtypes (they are converted on the way), have any strides, and
// inputs broadcast to the output. `y` may be exactly one of the inputs.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y = f(x). Floats: exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan asin acos atan sinh cosh tanh
/// asinh acosh atanh erf erfc erfinv erfcx ndtr ndtri log_ndtr lgamma digamma entr i0 i0e i1 i1e sinc sigmoid deg2rad
/// rad2deg bessel_j0 bessel_j1 bessel_y0 bessel_y1 reciprocal ceil floor trunc frac. Numbers: abs (of complex: real)
/// neg sign sgn square conj angle. Tests with a bool result: isnan isinf isfinite isposinf isneginf signbit
/// logical_not. Also bitwise_not, frexp_mantissa, frexp_exponent (to int32).
using Unary = Kernel<void(View y, View x)>;

/// y = f(a, b). add sub mul div floor_divide trunc_divide remainder fmod pow atan2 hypot maximum minimum fmax fmin
/// logaddexp logaddexp2 xlogy xlog1py copysign nextafter heaviside gcd lcm eq ne lt le gt ge logical_and logical_or
/// logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift complex polar zeta igamma
/// igammac. Integer division by zero is a ValueError.
using Binary = Kernel<void(View y, View a, View b)>;

/// y = f(a, b, c): where (a is bool), lerp, clamp.
using Ternary = Kernel<void(View y, View a, View b, View c)>;

/// y = f(x, p): round (p decimals), polygamma (order p).
using UnaryWithInt = Kernel<void(View y, View x, int64_t p)>;

/// y = a + alpha * b
inline const Kernel<void(View y, View a, View b, complex128 alpha)> kAddScaled{"add_scaled"};
/// y = a + value * b * c
inline const Kernel<void(View y, View a, View b, View c, complex128 value)> kAddcmul{"addcmul"};
/// y = a + value * b / c
inline const Kernel<void(View y, View a, View b, View c, complex128 value)> kAddcdiv{"addcdiv"};
/// NaN, +inf and -inf of x replaced
inline const Kernel<void(View y, View x, double nan, double posinf, double neginf)> kNanToNum{"nan_to_num"};
/// log(x / (1 - x)) of x clamped to [eps, 1 - eps]; a negative eps clamps nothing
inline const Kernel<void(View y, View x, double eps)> kLogit{"logit"};
/// x where it exceeds the bound, else the value
inline const Kernel<void(View y, View x, double threshold, double value)> kThreshold{"threshold"};

}  // namespace dragon::kernels
