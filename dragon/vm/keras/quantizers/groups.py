"""Weights in groups that have a step and a zero of their own."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def compute_quantization_parameters(x, *, bits, symmetric=False, per_channel=False, group_size=-1,
                                    compute_dtype="float32", epsilon=0.0, signed=False):
    """Return the size of one step of each group, the integer that stands for zero, and the largest integer.

    Parameters
    ----------
    x : Any
        Weights, with a row for each result.
    bits : int
        How many bits an integer has.
    symmetric : bool, optional, default=False
        Whether zero is in the middle.
    per_channel : bool, optional, default=False
        Whether each row has steps of its own.
    group_size : int, optional, default=-1
        How many columns make a group; -1 for all.
    compute_dtype : str, optional, default="float32"
        The dtype of the largest integer.
    epsilon : float, optional, default=0.0
        What is added to ranges.
    signed : bool, optional, default=False
        Whether integers go from the negative of half of their number, or from 0.

    """
    if x is None:
        raise ValueError(f"Input tensor {x} cannot be None.")
    x = convert_to_tensor(x)
    if len(x.shape) < 2:
        raise ValueError(f"Input weight tensor {x} must have a rank of at least 2, but got rank {len(x.shape)}.")
    if 0 in tuple(x.shape):
        raise ValueError("Input tensor 'x' cannot be empty.")
    rows, columns = x.shape[0], x.shape[1]
    groups = -(-columns // group_size) if per_channel and group_size > 0 else 1
    if groups > 1:
        beyond = groups * group_size - columns
        parts = ops.reshape(ops.pad(x, (0, beyond)) if beyond else x, (rows, groups, group_size))
    else:
        parts = ops.reshape(x, (rows if per_channel else 1, 1, -1))
    low, high = ops.amin(parts, axis=-1), ops.amax(parts, axis=-1)
    if symmetric:
        high = ops.maximum(ops.abs(low), high)
        low = ops.where(low < 0, -high, low)
    flat = low == high  # a group of one number has no range of its own
    low, high = ops.where(flat, low - 1, low), ops.where(flat, high + 1, high)
    most = ops.cast(convert_to_tensor(2 ** bits - 1), compute_dtype)
    if not signed and not symmetric:
        low, high = _around_zero(low, high, 2 ** bits - 1)
    step = ops.div(high - low + epsilon, ops.cast(most, x.dtype))
    step = ops.where(step <= 0, 1e-8, step)
    least = -(2 ** (bits - 1)) if signed else 0
    zero = ops.full_like(step, 2 ** (bits - 1) + least) if symmetric else ops.round(-low / step) + least
    zero = ops.clamp(zero, least, least + 2 ** bits - 1) if signed else zero
    if not per_channel:
        step, zero = ops.tile(step, (rows, 1)), ops.tile(zero, (rows, 1))
    return step, ops.cast(zero, "int8" if signed else "uint8"), most


def _around_zero(low, high, most):
    """Return ranges with zero in those that lie so far from it that no byte could say which integer stands for it."""
    far = -low * most > 255 * (high - low)
    return ops.where(low > 0, ops.zeros_like(low), low), ops.where(far, ops.zeros_like(high), high)


def quantize_with_zero_point(input_tensor, scale, zero, maxq):
    """Return numbers as integers, in a floating dtype.

    Parameters
    ----------
    input_tensor : Any
        The numbers.
    scale, zero : Any
        The size of one step, and the integer that stands for zero.
    maxq : Any
        The largest integer.

    """
    scale = convert_to_tensor(scale)
    safe = ops.where(scale == 0, ops.cast(convert_to_tensor(1e-8), scale.dtype), scale)
    numbers = ops.round(convert_to_tensor(input_tensor) / safe + ops.cast(convert_to_tensor(zero), scale.dtype))
    return ops.minimum(ops.maximum(numbers, ops.zeros_like(numbers)), ops.cast(convert_to_tensor(maxq), numbers.dtype))


def dequantize_with_zero_point(input_tensor, scale, zero):
    """Return the numbers that integers stand for."""
    scale = convert_to_tensor(scale)
    numbers = ops.cast(convert_to_tensor(input_tensor), scale.dtype)
    return scale * (numbers - ops.cast(convert_to_tensor(zero), scale.dtype))


def _spread(values, g_idx, axis):
    """Return the value of each place's group."""
    return ops.index_select(convert_to_tensor(values), axis, ops.cast(convert_to_tensor(g_idx), "int32"))


def quantize_with_sz_map(weights_matrix, scale, zero, g_idx, maxq, group_axis=-1):
    """Return weights as integers, by the steps of their groups.

    Parameters
    ----------
    weights_matrix : Any
        The weights.
    scale, zero : Any
        The size of one step and the integer that stands for zero, by group.
    g_idx : Any
        Which group each place is of.
    maxq : Any
        The largest integer.
    group_axis : int, optional, default=-1
        The axis of groups.

    """
    return quantize_with_zero_point(weights_matrix, _spread(scale, g_idx, group_axis),
                                    _spread(zero, g_idx, group_axis), maxq)


def dequantize_with_sz_map(weights_matrix, scale, zero, g_idx, group_axis=-1):
    """Return the weights that integers stand for, by the steps of their groups.

    Parameters
    ----------
    weights_matrix : Any
        Integers.
    scale, zero, g_idx, group_axis : optional
        As of `quantize_with_sz_map`.

    """
    return dequantize_with_zero_point(weights_matrix, _spread(scale, g_idx, group_axis),
                                      _spread(zero, g_idx, group_axis))
