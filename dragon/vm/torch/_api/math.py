"""Arithmetic and functions of single numbers: rows of PyTorch's names."""
ROWS = """
torch torch_ Tensor Tensor_: abs acos arccos=acos acosh arccosh=acosh asin arcsin=asin asinh arcsinh=asinh atan
torch torch_ Tensor Tensor_: arctan=atan atanh arctanh=atanh ceil clip=clamp conj_physical cos cosh deg2rad exp floor
torch torch_ Tensor Tensor_: frac gcd lcm ldexp log log10 log2 nan_to_num neg negative=neg rad2deg reciprocal rsqrt sin
torch torch_ Tensor Tensor_: sinh sqrt tan trunc fix=trunc
torch Tensor Tensor_: absolute=abs add addcdiv addcmul arctan2=atan2 bitwise_and bitwise_left_shift bitwise_not
torch Tensor Tensor_: bitwise_or bitwise_right_shift bitwise_xor copysign div=divide true_divide=divide eq floor_divide
torch Tensor Tensor_: ge greater_equal=ge gt greater=gt hypot igamma igammac le less_equal=le lerp lgamma logical_and
torch Tensor Tensor_: logical_not logical_or logical_xor lt less=lt mul multiply=mul ne not_equal=ne nextafter sgn sign
torch Tensor Tensor_: sub subtract=sub
torch Tensor: angle conj fmax fmin isclose isfinite isinf isnan isneginf isposinf isreal logaddexp logaddexp2 maximum
torch Tensor: minimum positive signbit
special: psi=digamma entr erfcx modified_bessel_i0=i0 i0e i1 modified_bessel_i1=i1 i1e gammainc=igamma gammaincc=igammac
special: gammaln=lgamma log_ndtr ndtr ndtri spherical_bessel_j0 xlog1py zeta
torch torch_ Tensor Tensor_ special: erf erfc exp2 expm1 i0 logit round sinc xlogy
atan2 ~ Atan2Backward0          torch Tensor Tensor_
clamp ~ ClampBackward1          torch torch_ Tensor Tensor_
complex                         torch
digamma                         torch Tensor Tensor_ special
divide ~ DivBackward0           torch Tensor Tensor_
erfinv                          torch Tensor Tensor_ special
float_power(y=exponent)
fmod ~ FmodBackward1            torch Tensor Tensor_
frexp -> (mantissa exponent)    torch Tensor
heaviside(y=values)             torch Tensor Tensor_
log1p ~ Log1PBackward0          torch torch_ Tensor Tensor_ special
polar                           torch
polygamma                       torch special
pow(y=exponent)                 torch Tensor Tensor_
remainder ~ RemainderBackward1  torch Tensor Tensor_
rsub ~ RsubBackward1            torch
square ~ PowBackward0           torch torch_ Tensor Tensor_
"""
