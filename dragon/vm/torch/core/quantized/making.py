"""`torch.quantize_per_tensor` and its kin."""
import math

from dragon.vm.torch.core.dtypes import OBJECTS, dtype as dtype_class
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.quantized.parts import (CHANNELS, FLOATING, HELD, QUANTIZED_OF, WHOLE, integers_for,
                                                  is_quantized, make)
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import Tensor, ops


def require_kind(who, kind, but=()):
    """Return the name of a quantized dtype."""
    name = kind.name if isinstance(kind, dtype_class) else repr(kind)
    if name not in HELD or name in but:
        wanted = ", ".join("torch." + one for one in HELD if one not in but)
        raise RuntimeError(f"{who}: got dtype {kind!r}, expected one of {wanted}: ScalarType is not supported in "
                           "new_qtensor")
    return name


def require_numbers(who, x):
    """Raise unless a tensor holds floats of 32 bits."""
    if is_quantized(x):
        raise NotImplementedError(f"{who}: got a quantized tensor, expected one of floats")
    if not isinstance(x, Tensor):
        raise TypeError(f"{who}: got '{type(x).__name__}' as input, expected a tensor")
    if x.dtype != OBJECTS["float32"]:
        raise RuntimeError(f"{who}: got {x.dtype}, expected torch.float32: Quantize only works on Float Tensor")


def require_points(who, zero_points, kind):
    """Raise unless zero points are integers of a dtype."""
    _, low, high = HELD[kind]
    for point in zero_points:
        if not low <= point <= high:
            side = "below lower" if point < low else "above upper"
            raise RuntimeError(f"{who}: got zero_point {point}, expected {low} to {high} for torch.{kind}: zero_point "
                               f"{point} is {side} bound.")


def number_of(who, what, given, kind):
    """Return one number, which may come as a tensor, as a 0-d tensor."""
    if isinstance(given, Tensor):
        if given.numel() != 1:
            raise RuntimeError(f"{who}: got {given.numel()} numbers as {what}, expected one")
        given = given.item()
    elif kind == "int64" and not hasattr(given, "__index__"):
        raise TypeError(f"{who}: got {given!r} as {what}, expected an integer")
    return as_tensor(float(given) if kind == "float64" else int(given), dtype=OBJECTS[kind])


@function
def quantize_per_tensor(input, scale, zero_point, dtype):
    """Return a tensor as integers of one scale and zero point.

    Parameters
    ----------
    input : Union[Tensor, Sequence[Tensor]]
        Floats of 32 bits. Of a list, each by its own of the `scale` and `zero_point` that are tensors then.
    scale : Union[float, Tensor]
        How far two neighbouring integers are apart.
    zero_point : Union[int, Tensor]
        The integer that stands for 0.
    dtype : dtype
        `torch.qint8`, `torch.quint8` or `torch.qint32`.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, ...]]
        Quantized.

    Examples
    --------
    >>> q = torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.26]), 0.1, 10, torch.quint8)
    >>> q.int_repr(), q.dequantize()
    (tensor([ 0, 10, 23], dtype=torch.uint8), tensor([-1.0000,  0.0000,  1.3000]))

    """
    if isinstance(input, (list, tuple)):
        if not (isinstance(scale, Tensor) and isinstance(zero_point, Tensor)) or not (
                len(input) == scale.numel() == zero_point.numel()):
            raise RuntimeError(f"quantize_per_tensor: got {len(input)} tensors, expected as many numbers in tensors "
                               "scale and zero_point")
        return tuple(quantize_per_tensor(*one, dtype) for one in zip(input, scale.unbind(), zero_point.unbind()))
    kind = require_kind("quantize_per_tensor", dtype, ("quint4x2",))
    require_numbers("quantize_per_tensor", input)
    scale = number_of("quantize_per_tensor", "scale", scale, "float64")
    zero_point = number_of("quantize_per_tensor", "zero_point", zero_point, "int64")
    require_points("quantize_per_tensor", [zero_point.item()], kind)
    return make(integers_for(input.detach(), scale, zero_point, kind, WHOLE), kind, WHOLE, scale, zero_point)


@function
def quantize_per_channel(input, scales, zero_points, axis, dtype):
    """Return a tensor as integers, whose channels along an axis have scales and zero points of their own.

    Parameters
    ----------
    input : Tensor
        Floats of 32 bits.
    scales : Tensor
        One for each channel.
    zero_points : Tensor
        One for each channel: integers, or floats, which scale is then applied around.
    axis : int
        Along which axis the channels lie.
    dtype : dtype
        `torch.qint8`, `torch.quint8`, `torch.qint32` or `torch.quint4x2`.

    Returns
    -------
    Tensor
        Quantized.

    """
    who, kind = "quantize_per_channel", require_kind("quantize_per_channel", dtype)
    require_numbers(who, input)
    scales, zero_points, scheme = check_channels(who, input, scales, zero_points, axis, kind)
    shape = tuple(-1 if one == axis else 1 for one in range(input.ndim))
    made = integers_for(input.detach(), ops.reshape(scales, shape), ops.reshape(zero_points, shape), kind, scheme)
    return make(made, kind, scheme, scales, zero_points, axis)


def check_channels(who, x, scales, zero_points, axis, kind):
    """Return scales and zero points in the dtypes that they are held in, and the scheme."""
    if not 0 <= axis < x.ndim:
        raise RuntimeError(f"{who}: got axis {axis}, expected 0 to {x.ndim - 1}: Channel axis out of range in per "
                           "channel affine quantization.")
    for what, given in (("scales", scales), ("zero_points", zero_points)):
        if not isinstance(given, Tensor) or given.ndim != 1:
            raise RuntimeError(f"{who}: got {what} of shape {tuple(getattr(given, 'shape', ()))}, expected a vector")
        if given.shape[0] != x.shape[axis]:
            raise RuntimeError(f"{who}: got {given.shape[0]} {what}, expected {x.shape[axis]}: length of {what} must "
                               f"equal to channel, expected {x.shape[axis]} got, {given.shape[0]}")
    if zero_points.dtype.is_floating_point:
        return scales.to(OBJECTS["float32"]), zero_points.to(OBJECTS["float32"]), FLOATING
    if kind == "quint4x2":
        raise RuntimeError(f"{who}: got integers as zero_points for torch.quint4x2, expected floats: its scheme is "
                           "torch.per_channel_affine_float_qparams")
    require_points(who, zero_points.tolist(), kind)
    return scales.to(OBJECTS["float64"]), zero_points.to(OBJECTS["int64"]), CHANNELS


@function
def quantize_per_tensor_dynamic(input, dtype, reduce_range):
    """Return a tensor as integers of a scale and zero point that fit its least and largest number.

    Parameters
    ----------
    input : Tensor
        Floats of 32 bits.
    dtype : dtype
        `torch.qint8` or `torch.quint8`.
    reduce_range : bool
        Whether a bit is left free, that products do not overflow.

    Returns
    -------
    Tensor
        Quantized.

    """
    kind = require_kind("quantize_per_tensor_dynamic", dtype, ("quint4x2", "qint32"))
    require_numbers("quantize_per_tensor_dynamic", input)
    _, low, high = HELD[kind]
    if reduce_range:
        low, high = (low // 2, high // 2) if kind == "quint8" else (-64, 63)
    lowest, highest = (float(ops.amin(input)), float(ops.amax(input))) if input.numel() else (0.0, 0.0)
    if not math.isfinite(highest - lowest):
        raise RuntimeError(f"quantize_per_tensor_dynamic: got numbers from {lowest} to {highest}, expected finite "
                           "ones: In ChooseQuantizationParams, min should be less than or equal to max")
    return quantize_per_tensor(input, *fitting(lowest, highest, low, high), dtype)


def fitting(lowest, highest, low, high):
    """Return the scale and zero point by which integers from `low` to `high` span numbers, 0 among them."""
    lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    scale = (highest - lowest) / (high - low)
    if single(scale) == 0.0 or single(1.0 / single(scale)) == float("inf"):
        scale = 0.1
    if scale < SMALLEST:
        # Tiny scales are widened, and the ends with them.
        scale, old = SMALLEST, scale
        if lowest == 0.0:
            highest = SMALLEST * (high - low)
        elif highest == 0.0:
            lowest = -SMALLEST * (high - low)
        else:
            lowest, highest = lowest * SMALLEST / old, highest * SMALLEST / old
    # The end whose rounding loses least decides.
    of_low, of_high = low - lowest / scale, high - highest / scale
    loss_low, loss_high = abs(low) - abs(lowest / scale), abs(high) - abs(highest / scale)
    point = of_low if loss_low < loss_high else of_high
    return scale, min(max(round(point), low), high)


SMALLEST = 6.0999998822808266e-05  # 6.1e-5 as a float of 32 bits has it


def single(number):
    """Return a number as a float of 32 bits has it."""
    return as_tensor(number, dtype=OBJECTS["float32"]).item()


@function
def _make_per_tensor_quantized_tensor(input, scale, zero_point):
    """Return integers as a quantized tensor of one scale and zero point."""
    who = "_make_per_tensor_quantized_tensor"
    kind = held_kind(who, input)
    return make(ops.clone(input), kind, WHOLE, number_of(who, "scale", scale, "float64"),
                number_of(who, "zero_point", zero_point, "int64"))


@function
def _make_per_channel_quantized_tensor(input, scale, zero_point, axis):
    """Return integers as a quantized tensor whose channels have scales and zero points of their own."""
    who = "_make_per_channel_quantized_tensor"
    kind = held_kind(who, input)
    scales, points, scheme = check_channels(who, input, scale, zero_point, axis, kind)
    return make(ops.clone(input), kind, scheme, scales, points, axis)


def held_kind(who, x):
    """Return the quantized dtype that holds a tensor's integers."""
    if not isinstance(x, Tensor) or x.dtype.name not in QUANTIZED_OF:
        raise RuntimeError(f"{who}: got {getattr(x, 'dtype', type(x).__name__)}, expected torch.int8, torch.uint8 or "
                           "torch.int32")
    return QUANTIZED_OF[x.dtype.name]


@function
def _empty_affine_quantized(*size, scale=1.0, zero_point=0, dtype=None, layout=None, device=None, pin_memory=False,
                            memory_format=None):
    """Return a quantized tensor of zeros, of one scale and zero point."""
    who = "_empty_affine_quantized"
    kind = require_kind(who, dtype, ("quint4x2",))
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    held = ops.zeros(size, dtype=OBJECTS[HELD[kind][0]], device=device)
    return make(held, kind, WHOLE, number_of(who, "scale", scale, "float64"),
                number_of(who, "zero_point", zero_point, "int64"))


@function
def _empty_per_channel_affine_quantized(*size, scales, zero_points, axis, dtype=None, layout=None, device=None,
                                        pin_memory=False, memory_format=None):
    """Return a quantized tensor of zeros, whose channels have scales and zero points of their own."""
    who, kind = "_empty_per_channel_affine_quantized", require_kind("_empty_per_channel_affine_quantized", dtype)
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    held = ops.zeros(size, dtype=OBJECTS[HELD[kind][0]], device=device)
    scales, points, scheme = check_channels(who, held, scales, zero_points, axis, kind)
    return make(held, kind, scheme, scales, points, axis)
