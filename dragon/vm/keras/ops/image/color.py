"""Colours in other terms."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor
from dragon.vm.keras.ops.image.common import Layout
from dragon.vm.shared.images.colors import GRAY, find_hue, find_shades


@operation
def rgb_to_grayscale(images, data_format=None):
    """Return how bright colours are.

    Parameters
    ----------
    images : Tensor
        One image or a batch, of 3 channels.

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
    gray = ops.add(ops.add(ops.mul(red, GRAY[0]), ops.mul(green, GRAY[1])), ops.mul(blue, GRAY[2]))
    return layout.leave(ops.unsqueeze(cast_to(gray, dtype), -1))


def _colours(images, data_format):
    images = tensor(images)
    layout = Layout(images, data_format)
    if "float" not in dtype_of(images):
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={dtype_of(images)}")
    x = layout.enter(images)
    if x.shape[-1] != 3:
        raise ValueError(f"Input images must have 3 channels, but received images with {x.shape[-1]} channels. "
                         f"Received: images.shape={tuple(images.shape)}")
    return layout, ops.unbind(x, -1)


@operation
def rgb_to_hsv(images, data_format=None):
    """Return colours as hue, saturation and value; the arguments are those of `rgb_to_grayscale`."""
    layout, (red, green, blue) = _colours(images, data_format)
    hue, value, least = find_hue(red, green, blue)
    bright = ops.gt(value, 0)
    saturation = ops.div(ops.sub(value, least), ops.where(bright, value, ops.ones_like(value)))
    saturation = ops.where(bright, saturation, ops.zeros_like(value))
    return layout.leave(ops.stack([hue, saturation, value], -1))


@operation
def hsv_to_rgb(images, data_format=None):
    """Return colours from hue, saturation and value; the arguments are those of `rgb_to_grayscale`."""
    layout, (hue, saturation, value) = _colours(images, data_format)
    chroma = ops.mul(saturation, value)
    bottom = ops.sub(value, chroma)
    return layout.leave(ops.stack([ops.add(ops.mul(shade, chroma), bottom) for shade in find_shades(hue)], -1))
