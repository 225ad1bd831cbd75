"""Arithmetic and functions of single numbers: rows of PyTorch's names."""
ROWS = """
abs                             torch torch_ Tensor Tensor_
absolute=abs                    torch Tensor Tensor_
acos                            torch torch_ Tensor Tensor_
arccos=acos                     torch torch_ Tensor Tensor_
acosh                           torch torch_ Tensor Tensor_
arccosh=acosh                   torch torch_ Tensor Tensor_
add                             torch Tensor Tensor_
addcdiv                         torch Tensor Tensor_
addcmul                         torch Tensor Tensor_
angle                           torch Tensor
asin                            torch torch_ Tensor Tensor_
arcsin=asin                     torch torch_ Tensor Tensor_
asinh                           torch torch_ Tensor Tensor_
arcsinh=asinh                   torch torch_ Tensor Tensor_
atan                            torch torch_ Tensor Tensor_
arctan=atan                     torch torch_ Tensor Tensor_
atan2 ~ Atan2Backward0          torch Tensor Tensor_
arctan2=atan2                   torch Tensor Tensor_
atanh                           torch torch_ Tensor Tensor_
arctanh=atanh                   torch torch_ Tensor Tensor_
bitwise_and                     torch Tensor Tensor_
bitwise_left_shift              torch Tensor Tensor_
bitwise_not                     torch Tensor Tensor_
bitwise_or                      torch Tensor Tensor_
bitwise_right_shift             torch Tensor Tensor_
bitwise_xor                     torch Tensor Tensor_
ceil                            torch torch_ Tensor Tensor_
clamp ~ ClampBackward1          torch torch_ Tensor Tensor_
clip=clamp                      torch torch_ Tensor Tensor_
complex                         torch
conj                            torch Tensor
conj_physical                   torch torch_ Tensor Tensor_
copysign                        torch Tensor Tensor_
cos                             torch torch_ Tensor Tensor_
cosh                            torch torch_ Tensor Tensor_
deg2rad                         torch torch_ Tensor Tensor_
digamma                         torch Tensor Tensor_ special
psi=digamma                     special
divide ~ DivBackward0           torch Tensor Tensor_
div=divide                      torch Tensor Tensor_
true_divide=divide              torch Tensor Tensor_
entr                            special
eq                              torch Tensor Tensor_
erf                             torch torch_ Tensor Tensor_ special
erfc                            torch torch_ Tensor Tensor_ special
erfcx                           special
erfinv                          torch Tensor Tensor_ special
exp                             torch torch_ Tensor Tensor_
exp2                            torch torch_ Tensor Tensor_ special
expm1                           torch torch_ Tensor Tensor_ special
float_power(y=exponent)
floor                           torch torch_ Tensor Tensor_
floor_divide                    torch Tensor Tensor_
fmax                            torch Tensor
fmin                            torch Tensor
fmod ~ FmodBackward1            torch Tensor Tensor_
frac                            torch torch_ Tensor Tensor_
frexp -> (mantissa exponent)    torch Tensor
gcd                             torch torch_ Tensor Tensor_
ge                              torch Tensor Tensor_
greater_equal=ge                torch Tensor Tensor_
gt                              torch Tensor Tensor_
greater=gt                      torch Tensor Tensor_
heaviside(y=values)             torch Tensor Tensor_
hypot                           torch Tensor Tensor_
i0                              torch torch_ Tensor Tensor_ special
modified_bessel_i0=i0           special
i0e                             special
i1                              special
modified_bessel_i1=i1           special
i1e                             special
igamma                          torch Tensor Tensor_
gammainc=igamma                 special
igammac                         torch Tensor Tensor_
gammaincc=igammac               special
isclose                         torch Tensor
isfinite                        torch Tensor
isinf                           torch Tensor
isnan                           torch Tensor
isneginf                        torch Tensor
isposinf                        torch Tensor
isreal                          torch Tensor
lcm                             torch torch_ Tensor Tensor_
ldexp                           torch torch_ Tensor Tensor_
le                              torch Tensor Tensor_
less_equal=le                   torch Tensor Tensor_
lerp                            torch Tensor Tensor_
lgamma                          torch Tensor Tensor_
gammaln=lgamma                  special
log                             torch torch_ Tensor Tensor_
log10                           torch torch_ Tensor Tensor_
log1p ~ Log1PBackward0          torch torch_ Tensor Tensor_ special
log2                            torch torch_ Tensor Tensor_
log_ndtr                        special
logaddexp                       torch Tensor
logaddexp2                      torch Tensor
logical_and                     torch Tensor Tensor_
logical_not                     torch Tensor Tensor_
logical_or                      torch Tensor Tensor_
logical_xor                     torch Tensor Tensor_
logit                           torch torch_ Tensor Tensor_ special
lt                              torch Tensor Tensor_
less=lt                         torch Tensor Tensor_
maximum                         torch Tensor
minimum                         torch Tensor
mul                             torch Tensor Tensor_
multiply=mul                    torch Tensor Tensor_
nan_to_num                      torch torch_ Tensor Tensor_
ndtr                            special
ndtri                           special
ne                              torch Tensor Tensor_
not_equal=ne                    torch Tensor Tensor_
neg                             torch torch_ Tensor Tensor_
negative=neg                    torch torch_ Tensor Tensor_
nextafter                       torch Tensor Tensor_
polar                           torch
polygamma                       torch special
positive                        torch Tensor
pow(y=exponent)                 torch Tensor Tensor_
rad2deg                         torch torch_ Tensor Tensor_
reciprocal                      torch torch_ Tensor Tensor_
remainder ~ RemainderBackward1  torch Tensor Tensor_
round                           torch torch_ Tensor Tensor_ special
rsqrt                           torch torch_ Tensor Tensor_
rsub ~ RsubBackward1            torch
sgn                             torch Tensor Tensor_
sign                            torch Tensor Tensor_
signbit                         torch Tensor
sin                             torch torch_ Tensor Tensor_
sinc                            torch torch_ Tensor Tensor_ special
sinh                            torch torch_ Tensor Tensor_
spherical_bessel_j0             special
sqrt                            torch torch_ Tensor Tensor_
square ~ PowBackward0           torch torch_ Tensor Tensor_
sub                             torch Tensor Tensor_
subtract=sub                    torch Tensor Tensor_
tan                             torch torch_ Tensor Tensor_
trunc                           torch torch_ Tensor Tensor_
fix=trunc                       torch torch_ Tensor Tensor_
xlog1py                         special
xlogy                           torch torch_ Tensor Tensor_ special
zeta                            special
"""
