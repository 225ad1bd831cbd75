"""Means and variances, and what is normalised by them."""
import math

from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.arrays.array import along, axes_of
from dragon.vm.shared.tensors.tensor import ops


def moments(x, axes, shift=None, keepdims=False, name=None):
    """Return the means and the variances along axes."""
    x, axes, keepdims = along(take(x), axes, keepdims)
    variance, mean = ops.var_mean(x, axes, correction=0, keepdims=keepdims)
    return mean, variance


def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """Return the weighted means and variances along axes."""
    x = take(x)
    weights = ops.broadcast_to(take(frequency_weights, x.dtype), tuple(x.shape))
    total = ops.sum(*along(weights, axes, True))
    mean = ops.div(ops.sum(*along(ops.mul(weights, x), axes, True)), total)
    variance = ops.div(ops.sum(*along(ops.mul(weights, ops.square(ops.sub(x, mean))), axes, True)), total)
    if keepdims:
        return mean, variance
    reduced = axes_of(axes, x.ndim)
    shape = [size for axis, size in enumerate(x.shape) if reduced is not None and axis not in reduced]
    return ops.reshape(mean, shape), ops.reshape(variance, shape)


def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """Return (count, sum, sum of squares, shift) along axes, of numbers less the shift."""
    x = take(x)
    reduced = axes_of(axes, x.ndim)
    count = math.prod(size for axis, size in enumerate(x.shape) if reduced is None or axis in reduced)
    moved = x if shift is None else ops.sub(x, take(shift, x.dtype))
    return (take(float(count), x.dtype), ops.sum(*along(moved, axes, keepdims)),
            ops.sum(*along(ops.square(moved), axes, keepdims)), None if shift is None else take(shift, x.dtype))


def normalize_moments(counts, mean_ss, variance_ss, shift=None, name=None):
    """Return the means and variances of what `sufficient_statistics` returned."""
    counts, mean_ss, variance_ss = take(counts), take(mean_ss), take(variance_ss)
    moved = ops.div(mean_ss, counts)
    variance = ops.sub(ops.div(variance_ss, counts), ops.square(moved))
    return (moved if shift is None else ops.add(moved, take(shift, moved.dtype))), variance


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """Return (x - mean) / sqrt(variance + epsilon) * scale + offset; the last two may be None."""
    x = take(x)
    factor = ops.rsqrt(ops.add(take(variance, x.dtype), variance_epsilon))
    if scale is not None:
        factor = ops.mul(factor, take(scale, x.dtype))
    shift = ops.neg(ops.mul(take(mean, x.dtype), factor))
    if offset is not None:
        shift = ops.add(shift, take(offset, x.dtype))
    return ops.add(ops.mul(x, factor), shift)


def batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon,
                                         scale_after_normalization, name=None):
    """Return `batch_normalization` with gamma only if `scale_after_normalization`."""
    return batch_normalization(input, mean, variance, beta, gamma if scale_after_normalization else None,
                               variance_epsilon)


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Return numbers divided by a power of the sum of squares of their neighbours in the last axis."""
    x = take(input)
    size = 2 * int(depth_radius) + 1
    order = (0, x.ndim - 1, *range(1, x.ndim - 1))
    made = ops.local_response_norm(ops.permute(x, order), size, float(alpha) * size, float(beta), float(bias))
    return ops.permute(made, (0, *range(2, x.ndim), 1))


lrn = local_response_normalization
