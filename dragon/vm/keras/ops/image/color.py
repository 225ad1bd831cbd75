"""Colours in other terms."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor
from dragon.vm.keras.ops.image.common import Layout


@operation
def rgb_to_grayscale(images, data_format=None):
    """Return how bright colours are.

    Parameters
    ----------
    images : Tensor
        One image or a batch, of 3 channels.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    Tensor
        Images of one channel.

    """
    images = tensor(images)
    layout = Layout(images, data_format)
    x = layout.enter(images)
    if x.shape[-1] not in (1, 3):
        raise ValueError("Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
                         f"Received input with shape: images.shape={tuple(images.shape)}")
    if x.shape[-1] == 1:
        return ops.clone(images)
    dtype = dtype_of(x)
    red, green, blue = ops.unbind(cast_to(x, result_type(dtype, float)), -1)
    gray = ops.add(ops.add(ops.mul(red, 0.2989), ops.mul(green, 0.5870)), ops.mul(blue, 0.1140))
    return layout.leave(ops.unsqueeze(cast_to(gray, dtype), -1))


def _colours(images, data_format):
    images = tensor(images)
    layout = Layout(images, data_format)
    if "float" not in dtype_of(images):
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={dtype_of(images)}")
    x = layout.enter(images)
    if x.shape[-1] != 3:
        raise ValueError(f"Invalid channel size: expected 3. Received: images.shape={tuple(images.shape)}")
    return layout, ops.unbind(x, -1)


@operation
def rgb_to_hsv(images, data_format=None):
    """Return colours as hue, saturation and value; the arguments are those of `rgb_to_grayscale`."""
    layout, (red, green, blue) = _colours(images, data_format)
    value = ops.maximum(ops.maximum(red, green), blue)
    span = ops.sub(value, ops.minimum(ops.minimum(red, green), blue))
    one, zero = ops.ones_like(span), ops.zeros_like(span)
    saturation = ops.where(ops.gt(value, 0), ops.div(span, ops.where(ops.gt(value, 0), value, one)), zero)
    sixth = ops.div(1.0 / 6.0, ops.where(ops.gt(span, 0), span, one))
    of_red, of_green = ops.mul(ops.sub(green, blue), sixth), ops.add(ops.mul(ops.sub(blue, red), sixth), 2.0 / 6.0)
    of_blue = ops.add(ops.mul(ops.sub(red, green), sixth), 4.0 / 6.0)
    hue = ops.where(ops.eq(red, value), of_red, ops.where(ops.eq(green, value), of_green, of_blue))
    hue = ops.where(ops.gt(span, 0), hue, zero)
    hue = ops.where(ops.lt(hue, 0), ops.add(hue, 1.0), hue)
    return layout.leave(ops.stack([hue, saturation, value], -1))


@operation
def hsv_to_rgb(images, data_format=None):
    """Return colours from hue, saturation and value; the arguments are those of `rgb_to_grayscale`."""
    layout, (hue, saturation, value) = _colours(images, data_format)
    chroma = ops.mul(saturation, value)
    bottom, turn = ops.sub(value, chroma), ops.mul(hue, 6.0)
    parts = (ops.sub(ops.abs(ops.sub(turn, 3.0)), 1.0), ops.sub(2.0, ops.abs(ops.sub(turn, 2.0))),
             ops.sub(2.0, ops.abs(ops.sub(turn, 4.0))))
    return layout.leave(ops.stack([ops.add(ops.mul(ops.clamp(part, 0.0, 1.0), chroma), bottom) for part in parts], -1))
