"""Operators of mathematics: pointwise functions, reductions, products of matrices."""
from dragon.ops import shelf

POINTWISE = """
    abs acos acosh add asin asinh atan atan2 atanh ceil clamp cos cosh deg2rad digamma div erf erfc erfinv exp exp2
    expm1 floor floor_divide fmod frac hypot isclose isfinite isinf isnan lerp lgamma log log10 log1p log2 logaddexp
    logaddexp2 maximum minimum mul nan_to_num neg pow rad2deg reciprocal remainder round rsqrt sigmoid sign signbit sin
    sinc sinh sqrt square sub tan tanh trunc where xlogy eq ne lt le gt ge logical_and logical_or logical_xor
    logical_not bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift
"""
REDUCTIONS = """
    sum mean prod std var norm amax amin argmax argmin max min all any logsumexp cumsum cumprod cummax cummin
    logcumsumexp median count_nonzero
"""
PRODUCTS = "matmul mm bmm mv dot outer einsum tensordot addmm baddbmm"
NAMES = (POINTWISE + REDUCTIONS + PRODUCTS).split()
__getattr__, __dir__ = shelf(__name__, NAMES)
