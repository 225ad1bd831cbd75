"""Colours of pictures: other systems of colours, brightness, contrast, hue."""
from dragon import _C
from dragon.vm.shared import errors
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.images.colors import GRAY, find_hue, find_shades
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.image.framing import convert_image_dtype

TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _floating(x):
    """Return pictures as floats, and what turns the result back into their dtype."""
    x = take(x)
    if x.dtype.is_floating:
        return x, lambda made: made
    dtype = x.dtype
    return convert_image_dtype(x, float32), lambda made: convert_image_dtype(made, dtype, saturate=True)


def _three(x, who):
    if not x.ndim or x.shape[-1] != 3:
        raise invalid_argument(f"{who}: input must have 3 channels along the last axis. Received shape {x.shape}")
    return x


def _colours(images, who):
    """Return the three channels of floating pictures, or raise TensorFlow's errors."""
    x = take(images)
    if not x.dtype.is_floating:
        raise invalid_argument(f"{who}: pictures must be of floats. Received dtype {x.dtype.name}")
    if not x.ndim or x.shape[-1] != 3:
        raise errors.FailedPreconditionError(None, None, f"{who}: input must have 3 channels along the last axis. "
                                             f"Received shape {x.shape}")
    return ops.unbind(x, -1)


def rgb_to_grayscale(images, name=None):
    """Return coloured pictures in shades of gray."""
    x, back = _floating(images)
    gray = ops.matmul(_three(x, "rgb_to_grayscale"), ops.unsqueeze(convert_to_tensor(GRAY, x.dtype), -1))
    return back(gray) if take(images).dtype is x.dtype else convert_image_dtype(gray, take(images).dtype)


def grayscale_to_rgb(images, name=None):
    """Return pictures of one channel with that channel three times."""
    x = take(images)
    if not x.ndim or x.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1. Received shape {x.shape}")
    return ops.cat([x, x, x], -1)


def _system(name, matrix):
    def convert(images):
        x = take(images)
        return ops.matmul(_three(x, name), convert_to_tensor(matrix, x.dtype))
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"Return pictures in another system of colours: {name.replace('_', ' ')}."
    return convert


rgb_to_yiq, yiq_to_rgb = _system("rgb_to_yiq", TO_YIQ), _system("yiq_to_rgb", FROM_YIQ)
rgb_to_yuv, yuv_to_rgb = _system("rgb_to_yuv", TO_YUV), _system("yuv_to_rgb", FROM_YUV)


def rgb_to_hsv(images, name=None):
    """Return pictures as hue, saturation and value, each between 0 and 1."""
    red, green, blue = _colours(images, "rgb_to_hsv")
    hue, value, least = find_hue(red, green, blue)
    positive = ops.gt(value, 0)
    saturation = (value - least) / ops.where(positive, value, ops.ones_like(value))
    return ops.stack([hue, ops.where(positive, saturation, ops.zeros_like(value)), value], -1)


def hsv_to_rgb(images, name=None):
    """Return pictures of hue, saturation and value as red, green and blue."""
    hue, saturation, value = _colours(images, "hsv_to_rgb")
    return ops.stack([((1.0 - saturation) + saturation * shade) * value for shade in find_shades(hue)], -1)


def adjust_brightness(image, delta):
    """Return pictures with a number added."""
    x, back = _floating(image)
    return back(x + ops.cast(take(delta), x.dtype) if isinstance(delta, _C.Tensor) else x + delta)


def adjust_contrast(images, contrast_factor):
    """Return pictures whose differences from their mean, channel by channel, are multiplied."""
    x, back = _floating(images)
    if x.ndim < 3:
        raise invalid_argument(f"input must be at least 3-D. Received shape {x.shape}")
    mean = ops.mean(x, [-3, -2], True)
    factor = ops.cast(take(contrast_factor), x.dtype)
    return back((x - mean) * factor + mean)


def adjust_gamma(image, gamma=1, gain=1):
    """Return gain * picture ** gamma."""
    if not isinstance(gamma, _C.Tensor) and gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number. Received: {gamma}")
    x, back = _floating(image)
    return back(gain * x ** gamma)


def adjust_hue(image, delta, name=None):
    """Return pictures with their hues turned; `delta` is between -1 and 1."""
    if not isinstance(delta, _C.Tensor) and not -1 <= delta <= 1:
        raise ValueError(f"delta must be in the interval [-1, 1]. Received: {delta}")
    x, back = _floating(image)
    # Between its least and its greatest channel, whatever these are: colours need not be within 0 and 1.
    hue, value, least = find_hue(*ops.unbind(_three(x, "adjust_hue"), -1))
    hue = ops.remainder(hue + ops.cast(take(delta), x.dtype), 1.0)
    return back(ops.stack([least + (value - least) * shade for shade in find_shades(hue)], -1))


def adjust_saturation(image, saturation_factor, name=None):
    """Return pictures with their saturation multiplied."""
    x, back = _floating(image)
    hue, saturation, value = ops.unbind(rgb_to_hsv(_three(x, "adjust_saturation")), -1)
    saturation = ops.clamp(saturation * ops.cast(take(saturation_factor), x.dtype), 0.0, 1.0)
    return back(hsv_to_rgb(ops.stack([hue, saturation, value], -1)))


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """Return a picture as JPEG leaves it at a quality from 0 to 100."""
    from dragon.vm.tensorflow import io
    x, quality = take(image), int(jpeg_quality)
    if not 0 <= quality <= 100:
        raise invalid_argument(f"quality must be in [0,100]. Received: jpeg_quality={quality}")
    file = io.encode_jpeg(convert_image_dtype(x, "uint8", saturate=True), quality=quality)
    made = io.decode_jpeg(file, channels=x.shape[-1], dct_method=dct_method)
    return convert_image_dtype(made, x.dtype, saturate=True)
