"""keras.ops.numpy: what NumPy has, on tensors."""
from dragon.vm.keras.ops.numpy.creation import (
    arange, array, bartlett, blackman, empty, empty_like, eye, full, full_like, geomspace, hamming, hanning,
    identity, kaiser, linspace, logspace, meshgrid, ones, ones_like, tri, zeros, zeros_like)
from dragon.vm.keras.ops.numpy.indexing import (
    bincount, digitize, get_item, histogram, ndim, nonzero, searchsorted, select, size, take, take_along_axis,
    unravel_index, where)
from dragon.vm.keras.ops.numpy.joining import (
    append, array_split, concatenate, dsplit, dstack, hsplit, hstack, repeat, split, stack, tile, vsplit, vstack)
from dragon.vm.keras.ops.numpy.lifting import diff, vectorize
from dragon.vm.keras.ops.numpy.logic import (
    allclose, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift,
    bitwise_xor, equal, gcd, greater, greater_equal, isclose, isfinite, isin, isinf, isnan, isneginf, isposinf,
    isreal, lcm, left_shift, less, less_equal, logical_and, logical_not, logical_or, logical_xor, not_equal,
    right_shift, signbit)
from dragon.vm.keras.ops.numpy.nans import (
    nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmedian, nanmin, nanpercentile, nanprod,
    nanquantile, nanstd, nansum, nanvar)
from dragon.vm.keras.ops.numpy.pointwise import (
    abs, absolute, add, angle, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, cbrt, ceil, clip, conj,
    conjugate, cos, cosh, deg2rad, divide, divide_no_nan, exp, exp2, expm1, fabs, floor, floor_divide, fmax, fmin,
    fmod, heaviside, hypot, i0, imag, ldexp, log, log10, log1p, log2, logaddexp, logaddexp2, maximum, minimum, mod,
    multiply, nan_to_num, negative, nextafter, power, rad2deg, real, reciprocal, round, sign, sin, sinc, sinh, sqrt,
    square, subtract, tan, tanh, true_divide, trunc)
from dragon.vm.keras.ops.numpy.products import (
    corrcoef, correlate, cross, dot, einsum, inner, kron, matmul, outer, tensordot, trace, vander, vdot)
from dragon.vm.keras.ops.numpy.reductions import (
    all, amax, amin, any, argmax, argmin, average, count_nonzero, cumprod, cumsum, max, mean, min, prod, ptp, std,
    sum, trapezoid, var)
from dragon.vm.keras.ops.numpy.shapes import (
    broadcast_to, copy, diag, diagflat, diagonal, expand_dims, flip, fliplr, flipud, moveaxis, pad, ravel, reshape,
    roll, rot90, squeeze, swapaxes, transpose, tril, triu, view)
from dragon.vm.keras.ops.numpy.sorting import argpartition, argsort, median, percentile, quantile, sort, unique
from dragon.vm.keras.ops.linalg import slogdet
