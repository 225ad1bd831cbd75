"""Small integers for numbers, with the scale that brings them back."""
import math

from dragon.vm.keras.core.config import epsilon as fuzz
from dragon.vm.keras.core.configuration import Configured, unwritten
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.shared.tensors.tensor import ops

EPSILON = fuzz()


class Quantizer(Configured):
    """Base of quantizers: called with numbers, they return what stands for them.

    Parameters
    ----------
    output_dtype : str, optional, default="int8"
        The dtype of what they return.

    """

    def __init__(self, output_dtype="int8"):
        self.output_dtype = output_dtype

    def __call__(self, x):
        """Return what stands for numbers."""
        return x

    @unwritten
    def get_config(self):
        """Return the arguments that make the same quantizer again; subclasses write it."""
        raise NotImplementedError(f"{self} does not implement get_config()")


class AbsMaxQuantizer(Quantizer):
    """Integers whose largest magnitude along axes stands for the numbers' largest.

    Parameters
    ----------
    axis : Optional[Union[int, Sequence[int]]], optional
        The axes; the last one by default.
    output_dtype : str, optional, default="int8"
        The dtype of the integers.

    """

    _arguments = "value_range epsilon output_dtype axis?"

    def __init__(self, axis=None, value_range=(-127, 127), epsilon=EPSILON, output_dtype="int8"):
        super().__init__(output_dtype)
        self.axis = axis if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.value_range, self.epsilon = value_range, epsilon
        if output_dtype == "int8" and (value_range[0] < -128 or value_range[1] > 127):
            raise ValueError("Quantizer with output_dtype='int8' requires value_range to be within the interval "
                             f"[-128, 127]. Received: value_range={value_range}")

    def __call__(self, x, axis=None, to_numpy=False):
        """Return integers, and what numbers were multiplied with.

        Parameters
        ----------
        x : Any
            The numbers.
        axis : Optional[Union[int, Sequence[int]]], optional
            Other axes.

        """
        axis = axis if axis is not None else self.axis if self.axis is not None else -1
        return abs_max_quantize(x, axis, self.value_range, self.output_dtype, self.epsilon, to_numpy)


def abs_max_quantize(inputs, axis, value_range=(-127, 127), dtype="int8", epsilon=EPSILON, to_numpy=False):
    """Return integers, and what numbers were multiplied with: the largest integer over the largest magnitude.

    Parameters
    ----------
    axis : Union[int, Sequence[int]]
        What the largest magnitude is taken along.

    """
    x = convert_to_tensor(inputs)
    axis = axis if isinstance(axis, int) else tuple(axis)
    scale = ops.cast(value_range[1] / (ops.amax(ops.abs(x), axis=axis, keepdims=True) + epsilon), x.dtype)
    return ops.cast(ops.clamp(ops.round(x * scale), *value_range), dtype), scale


def abs_max_quantize_grouped_with_zero_point(inputs, block_size, value_range=(-8, 7), dtype="int8", epsilon=EPSILON,
                                             to_numpy=False):
    """Return integers of blocks of rows, the size of one step of each block, and the integer that stands for zero.

    Parameters
    ----------
    inputs : Any
        A matrix.
    block_size : int
        How many rows make a block.
    epsilon : float, optional, default=1e-07
        What is added to ranges.
    to_numpy : bool, optional, default=False
        As genuine Keras's NumPy has it: a block that is not full has zeros among its numbers, were it the only one.

    """
    x = convert_to_tensor(inputs)
    rows, columns = x.shape
    least, most = value_range
    blocks = math.ceil(rows / block_size)
    size = block_size if blocks > 1 or to_numpy else rows
    padded = ops.pad(x, (0, 0, 0, blocks * size - rows)) if blocks * size > rows else x
    parts = ops.reshape(padded, (blocks, size, columns))
    low, high = ops.amin(parts, axis=1), ops.amax(parts, axis=1)
    if not to_numpy:
        flat = low == high  # a block of one number has no range of its own
        low, high = ops.where(flat, low - 1, low), ops.where(flat, high + 1, high)
    step = (high - low + epsilon) / (most - least)
    step = ops.where(step <= 0, 1e-8, step)
    zero = ops.clamp(ops.round(-low / step) + least, least, most)
    numbers = ops.round(parts / ops.unsqueeze(step, 1)) + ops.unsqueeze(zero, 1)
    numbers = ops.reshape(ops.cast(ops.clamp(numbers, least, most), dtype), (blocks * size, columns))
    return ops.narrow(numbers, 0, 0, rows), step, ops.cast(zero, "int8")


def _check_int(dtype):
    if dtype not in ("int8", "uint8"):
        raise ValueError(f"Expected dtype to be 'int8' or 'uint8', but got '{dtype}'.")


def pack_int4(arr, axis=0, dtype="int8"):
    """Return pairs of four-bit integers in one byte, the shape of these, and how many integers there were.

    Parameters
    ----------
    arr : Any
        Integers.
    dtype : str, optional, default="int8"
        Of the integers and the bytes: "int8" or "uint8".

    """
    _check_int(dtype)
    x = convert_to_tensor(arr)
    if standardize_dtype(x.dtype) != dtype:
        raise TypeError(f"Expected {dtype} tensor for packing, got {standardize_dtype(x.dtype)}.")
    x = ops.moveaxis(x, axis, 0)
    count = x.shape[0]
    if count % 2:
        x = ops.cat([x, ops.zeros((1, *x.shape[1:]), dtype=x.dtype)], axis=0)
    pairs = ops.reshape(x, (-1, 2, *x.shape[1:]))
    low, high = ops.select(pairs, 1, 0), ops.select(pairs, 1, 1)
    # In sixteen bits, so that the upper half of a byte may be its sign.
    both = ops.bitwise_and(ops.cast(low, "int16"), 15) + ops.bitwise_and(ops.cast(high, "int16"), 15) * 16
    if dtype == "int8":
        both = ops.where(both > 127, both - 256, both)
    packed = ops.contiguous(ops.moveaxis(ops.cast(both, dtype), 0, axis))
    return packed, tuple(packed.shape), count


def unpack_int4(packed, orig_len, axis=0, dtype="int8"):
    """Return the four-bit integers that `pack_int4` packed.

    Parameters
    ----------
    packed : Any
        Bytes.
    orig_len : int
        How many integers there were.
    dtype : str, optional, default="int8"
        "int8" for integers from -8 to 7, "uint8" for those from 0 to 15.

    """
    _check_int(dtype)
    x = convert_to_tensor(packed)
    if standardize_dtype(x.dtype) not in ("int8", "uint8"):
        raise TypeError(f"Expected int8 or uint8 tensor for unpacking, got {standardize_dtype(x.dtype)}")
    # In arithmetic that exported models have, too: 32 bits, and no operator of single bits.
    x = ops.cast(ops.moveaxis(x, axis, 0), "int32")
    x = ops.where(x < 0, x + 256, x)
    high = ops.floor_divide(x, 16)
    halves = ops.stack([x - high * 16, high], axis=1)
    if dtype == "int8":
        halves = ops.where(halves > 7, halves - 16, halves)
    numbers = ops.narrow(ops.reshape(ops.cast(halves, dtype), (-1, *x.shape[1:])), 0, 0, orig_len)
    return ops.contiguous(ops.moveaxis(numbers, 0, axis))
