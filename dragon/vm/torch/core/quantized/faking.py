"""Floats rounded as if they were quantized: what networks learn with that are to be quantized later."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import Tensor, ops


def rounded(who, x, scale, zero_point, low, high):
    """Return numbers as they would come back from integers; gradients pass where these are within their bounds."""
    if low > high:
        raise RuntimeError(f"{who}: got quant_min {low} and quant_max {high}, expected no less than the first: "
                           "`quant_min` should be less than or equal to `quant_max`.")
    if not x.dtype.is_floating_point:
        raise NotImplementedError(f"{who}: got {x.dtype}, expected floats")
    held, scale = x.detach().to(OBJECTS["float32"]), scale.to(OBJECTS["float32"])
    places = ops.add(ops.round(ops.mul(held, ops.reciprocal(scale))), zero_point)
    places = ops.where(ops.isnan(places), ops.full_like(places, low), places)
    inside = ops.logical_and(ops.ge(places, low), ops.le(places, high))
    made = ops.mul(ops.sub(ops.clamp(places, low, high), zero_point), scale).to(x.dtype)
    if not x.requires_grad:
        return made
    return ops.add(made, ops.where(inside, ops.sub(x, x.detach()), ops.zeros_like(made)))


@function
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """Return floats rounded as by one scale and zero point.

    Parameters
    ----------
    input : Tensor
        Floats.
    scale : Union[float, Tensor]
        How far two neighbouring integers are apart.
    zero_point : Union[int, Tensor]
        The integer that stands for 0.
    quant_min, quant_max : int
        The least and the largest integer.

    Returns
    -------
    Tensor
        Of the input's dtype. Gradients pass as they are where the integer is within its bounds.

    """
    who = "fake_quantize_per_tensor_affine"
    scale = scale.detach() if isinstance(scale, Tensor) else as_tensor(float(scale))
    if isinstance(zero_point, Tensor):
        zero_point = zero_point.detach().to(OBJECTS["float32"])
    else:
        require_point(who, zero_point, quant_min, quant_max)
        zero_point = as_tensor(float(zero_point), dtype=OBJECTS["float32"])
    return rounded(who, input, scale, zero_point, quant_min, quant_max)


def require_point(who, point, low, high):
    """Raise unless a zero point is among the integers."""
    if low <= high and not low <= point <= high:
        raise RuntimeError(f"{who}: got zero_point {point}, expected {low} to {high}: `zero_point` must be between "
                           "`quant_min` and `quant_max`.")


@function
def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """Return floats rounded as by scales and zero points of their own for each channel along an axis.

    Parameters
    ----------
    input : Tensor
        Floats.
    scale, zero_point : Tensor
        One for each channel; zero points are int32 or floats.
    axis : int
        Along which axis the channels lie.
    quant_min, quant_max : int
        The least and the largest integer.

    Returns
    -------
    Tensor
        Of the input's dtype. Gradients pass as they are where the integer is within its bounds.

    """
    who = "fake_quantize_per_channel_affine"
    if zero_point.dtype.name not in ("int32", "float32", "float16"):
        raise RuntimeError(f"{who}: got zero_point of {zero_point.dtype}, expected torch.int32, float32 or float16: "
                           "Zero-point must be Int32, Float or Half")
    if not 0 <= axis < input.ndim:
        raise RuntimeError(f"{who}: got axis {axis}, expected 0 to {input.ndim - 1}: `axis` must be between 0 and "
                           "number of dimensions of input")
    for what, given in (("scale", scale), ("zero_point", zero_point)):
        if given.ndim != 1 or given.shape[0] != input.shape[axis]:
            raise RuntimeError(f"{who}: got {what} of shape {tuple(given.shape)}, expected ({input.shape[axis]},): "
                               "dimensions of scale and zero-point are not consistent with input tensor")
    if not zero_point.dtype.is_floating_point:
        for point in zero_point.tolist():
            require_point(who, point, quant_min, quant_max)
    shape = tuple(-1 if one == axis else 1 for one in range(input.ndim))
    return rounded(who, input, ops.reshape(scale.detach(), shape),
                   ops.reshape(zero_point.detach().to(OBJECTS["float32"]), shape), quant_min, quant_max)
