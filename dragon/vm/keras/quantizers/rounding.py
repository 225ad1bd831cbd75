"""Numbers rounded to what few bits can hold, for training that knows of it."""
import math

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation
from dragon.vm.shared.tensors.tensor import ops

# Of each float of eight bits: bits of the mantissa, the least exponent, the largest number.
FLOAT8 = {"float8_e4m3fn": (3, -6, 448.0), "float8_e5m2": (2, -14, 57344.0)}


def _straight(x, rounded):
    """Return rounded numbers through which gradients go as if they were not."""
    return x + (rounded - x).detach()


@operation
def fake_quant_with_min_max_vars(inputs, min_vals, max_vals, num_bits=8, narrow_range=False, axis=None):
    """Return numbers rounded to the steps that integers of some bits make between two limits.

    Parameters
    ----------
    min_vals, max_vals : Any
        The limits; one of each, or as many as `axis` is long.
    num_bits : int, optional, default=8
        How many bits.
    narrow_range : bool, optional, default=False
        Leave out the least integer.
    axis : Optional[int], optional
        What has limits of its own.

    """
    if not 2 <= int(num_bits) <= 16:
        raise ValueError(f"num_bits must be between 2 and 16. Received: num_bits={num_bits}")
    inputs = convert_to_tensor(inputs)
    shape = [1] * len(inputs.shape)
    if axis is not None:
        shape[axis] = -1
    x = ops.cast(inputs, "float32")
    low, high = (ops.reshape(convert_to_tensor(limit, dtype="float32"), tuple(shape)) for limit in (min_vals, max_vals))
    first, last = int(bool(narrow_range)), (1 << int(num_bits)) - 1
    width = high.detach() - low.detach()
    step, inverse = width / (last - first), (last - first) / width
    # The limits move so that zero is one of the steps.
    zero = ops.floor(ops.clamp(first - low.detach() / step, first, last) + 0.5)
    lowest, highest = (first - zero) * step, (last - zero) * step
    within = ops.where(x < lowest, low, ops.where(x > highest, high, x))
    clipped = ops.clamp(x.detach(), lowest, highest)
    offset = ops.floor(-lowest * inverse + 0.5)
    rounded = ops.floor((clipped - lowest) * inverse - offset + 0.5) * step
    rounded = ops.where(width == 0, 0, rounded)
    return ops.cast(within + (rounded - within.detach()), inputs.dtype)


def compute_float8_scale(amax, scale, dtype_max, margin=0):
    """Return what to divide numbers by, so that the largest magnitude fits a float of eight bits.

    Parameters
    ----------
    amax : Any
        The largest magnitude.
    scale : Any
        What it was before: kept where the magnitude is zero or not finite.
    dtype_max : float
        The largest number of that float.
    margin : int, optional, default=0
        How many powers of two to stay below it.

    """
    amax, before = convert_to_tensor(amax), ops.reciprocal(convert_to_tensor(scale))
    # Not 2 ** margin: Python would try to write down a power of any size.
    factor = dtype_max / amax * math.ldexp(1.0, -margin)
    return ops.reciprocal(ops.where(ops.logical_and(amax > 0.0, ops.isfinite(amax)), factor, before))


def compute_float8_amax_history(x, amax_history):
    """Return the magnitudes of former steps, moved on by one, with that of numbers in front."""
    history = convert_to_tensor(amax_history)
    largest = ops.reshape(ops.cast(ops.amax(ops.abs(convert_to_tensor(x))), history.dtype), (1,))
    return ops.cat([largest, ops.narrow(ops.roll(history, -1, 0), 0, 1, history.shape[0] - 1)], axis=0)


def quantize_and_dequantize(inputs, scale, quantized_dtype, compute_dtype):
    """Return numbers rounded to what a float of eight bits can hold, after a division and before a multiplication.

    Parameters
    ----------
    scale : Any
        What they are divided by.
    quantized_dtype : str
        "float8_e4m3fn" or "float8_e5m2".
    compute_dtype : str
        The dtype of the result.

    """
    name = getattr(quantized_dtype, "name", None) or getattr(quantized_dtype, "__name__", None) or str(quantized_dtype)
    if name not in FLOAT8:
        raise ValueError(f"Expected a dtype among {sorted(FLOAT8)}. Received: quantized_dtype={quantized_dtype}")
    bits, least, largest = FLOAT8[name]
    scale = convert_to_tensor(scale, dtype=compute_dtype)
    x = ops.clamp(convert_to_tensor(inputs) / scale, -largest, largest)
    wide = ops.cast(x.detach(), "float32")
    _, exponent = ops.frexp(wide)
    step = ops.ldexp(ops.ones_like(wide), ops.maximum(exponent - 1, least) - bits)
    rounded = ops.cast(ops.round(wide / step) * step, x.dtype)
    return ops.cast(_straight(x, rounded), compute_dtype) * scale
