"""Colours: brightness and contrast, hue and saturation, and the systems that colours are told in."""
import numpy as np

from dragon.io.pictures.colours import BLUE, GREEN, RED, turn_colours
from dragon.vm.dali.core.kinds import BGR, GRAY, RGB, UINT8, YCbCr
from dragon.vm.dali.core.operators.pictures import write
from dragon.vm.dali.core.operators.values import convert, kind_or, number, spatial
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

LUMA = np.array([[RED, GREEN, BLUE]])
TO_YIQ = np.array([[RED, GREEN, BLUE], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
# Luma from 16 to 235, differences from 16 to 240.
TO_YCBCR = np.array([[0.25678824, 0.50412941, 0.09790588], [-0.14822290, -0.29099279, 0.43921569],
                     [0.43921569, -0.36778831, -0.07142737]])
FROM_YCBCR, OFFSETS = np.linalg.inv(TO_YCBCR), np.array([16.0, 128.0, 128.0])
RANGE = 219 / 255  # of luma
# How the first channels are mixed, and what is added then, of values from 0 to 255.
SYSTEMS = {(RGB, GRAY): (LUMA, 0.0), (RGB, YCbCr): (TO_YCBCR, OFFSETS),
           (YCbCr, RGB): (FROM_YCBCR, -FROM_YCBCR @ OFFSETS),
           (YCbCr, GRAY): (np.array([[1 / RANGE]]), -16 / RANGE),
           (GRAY, YCbCr): (np.array([[RANGE]]), 16.0)}


def span(dtype):
    """Return the largest number of a type: 1 for floats."""
    return 1.0 if dtype.kind == "f" else float(np.iinfo(dtype).max)


def to_colours(array, source, target):
    """Return a picture, channels last, in another system of colours."""
    if source == target:
        return array
    if source == BGR:
        return to_colours(array[..., ::-1], RGB, target)
    if target == BGR:
        return to_colours(array, source, RGB)[..., ::-1]
    if source == GRAY and target == RGB:
        return np.repeat(array, 3, -1)
    if (source, target) not in SYSTEMS:
        raise ValueError(got("color_space_conversion", f"{source} to {target}", "RGB, BGR, GRAY or YCbCr"))
    (matrix, offset), step = SYSTEMS[source, target], span(array.dtype) / 255
    made = _mixed(array[..., :matrix.shape[1]], matrix, offset * step, array.dtype)
    if target != YCbCr or source == RGB:
        return made
    middle = convert(np.asarray(OFFSETS[1:] * step, np.float32), array.dtype)
    return np.concatenate([made, np.broadcast_to(middle, (*made.shape[:-1], 2))], -1)


def _mixed(array, matrix, offset, kind):
    """Return a picture, channels last, whose channels are mixed by a matrix before something is added to them."""
    if not (array.dtype == np.uint8 == kind and matrix.shape == (3, 3) and array.ndim > 1 and array.size):
        return convert(array.astype(np.float32) @ matrix.T.astype(np.float32) + np.float32(offset), kind)
    rows = np.column_stack([matrix, np.broadcast_to(offset, 3)])
    plain = array.reshape(-1, *array.shape[-2:])
    return write(plain[None], plain.shape[:2], matrix=rows.ravel(), layout="NHWC", dtype="uint8").reshape(array.shape)


@operator()
def color_space_conversion(data, *, image_type, output_type, context):
    """Tell colours in another system."""
    wanted = 1 if image_type == GRAY else 3
    if data.shape[-1] != wanted:
        raise RuntimeError(got("fn.color_space_conversion", f"{data.shape[-1]} channels", f"{wanted}, the last axis"))
    return to_colours(data, image_type, output_type)


def _mix(data, matrix, offset, kind, who, image_type=RGB):
    """Return a picture whose channels are mixed by a matrix."""
    if image_type not in (RGB, BGR):
        raise RuntimeError(got(who, f"image_type={image_type}", "RGB or BGR"))
    if data.shape[-1] != 3:
        raise RuntimeError(got(who, f"{data.shape[-1]} channels", "3, the last axis"))
    return _mixed(data, matrix[::-1, ::-1] if image_type == BGR else matrix, offset, kind)


def turned(hue, saturation, value=1.0):
    """Return the matrix that turns hue by degrees, and scales saturation and value."""
    return turn_colours(TO_YIQ, -np.deg2rad(hue), saturation) * value


@operator()
def hsv(data, *, hue=0.0, saturation=1.0, value=1.0, dtype=UINT8):
    """Turn hue, and scale saturation and value."""
    return _mix(data, turned(number(hue), number(saturation), number(value)), 0, kind_or(dtype, data), "fn.hsv")


@operator()
def hue(data, *, hue=0.0, dtype=None, image_type=RGB):
    """Turn hue by degrees."""
    return _mix(data, turned(number(hue), 1), 0, kind_or(dtype, data), "fn.hue", image_type)


@operator()
def saturation(data, *, saturation=1.0, dtype=None, image_type=RGB):
    """Scale saturation."""
    return _mix(data, turned(0, number(saturation)), 0, kind_or(dtype, data), "fn.saturation", image_type)


@operator()
def color_twist(data, *, hue=0.0, saturation=1.0, brightness=1.0, contrast=1.0, dtype=None, image_type=RGB):
    """Change hue, saturation, contrast and brightness in one step."""
    kind = kind_or(dtype, data)
    half = 0.5 if data.dtype.kind == "f" else 128.0  # of bytes, also where numbers have more of them
    strong, light = number(contrast), number(brightness)
    matrix = turned(number(hue), number(saturation)) * (strong * light)
    return _mix(data, matrix, (half - half * strong) * light, kind, "fn.color_twist", image_type)


def _brighten(data, brightness, brightness_shift, contrast, contrast_center, dtype):
    kind = kind_or(dtype, data)
    center = (0.5 if data.dtype.kind == "f" else (np.iinfo(data.dtype).max + 1.0) / 2) if contrast_center is None \
        else number(contrast_center)
    light, strong = number(brightness), number(contrast)
    factor = np.float32(light * strong)
    offset = np.float32(number(brightness_shift) * span(kind) + light * (center - strong * center))
    return convert(data.astype(np.float32) * factor + offset, kind)


@operator()
def brightness_contrast(data, *, brightness=1.0, brightness_shift=0.0, contrast=1.0, contrast_center=None, dtype=None):
    """Scale distances to a middle value, then all values."""
    return _brighten(data, brightness, brightness_shift, contrast, contrast_center, dtype)


@operator()
def brightness(data, *, brightness=1.0, brightness_shift=0.0, dtype=None):
    """Scale all values."""
    return _brighten(data, brightness, brightness_shift, 1.0, None, dtype)


@operator()
def contrast(data, *, contrast=1.0, contrast_center=None, dtype=None):
    """Scale distances to a middle value."""
    return _brighten(data, 1.0, 0.0, contrast, contrast_center, dtype)


@operator()
def equalize(data, *, context):
    """Spread the values of each channel evenly."""
    if data.dtype != np.uint8:
        raise RuntimeError(got("fn.equalize", f"numbers of type {data.dtype}", "uint8"))
    made = np.empty(data.shape, data.dtype)
    # Axes before those of pictures are frames, and channels that come first are pictures by themselves.
    axes, _ = spatial(context.layout, data.ndim, "fn.equalize")
    for place in np.ndindex(*data.shape[:axes[0]]):
        made[place] = equalized(data[place])
    return Laid(made, context.layout)


def equalized(data):
    """Return a picture, channels last, with the values of each channel spread evenly."""
    made = np.empty(data.shape, data.dtype)
    channels = data.reshape(-1, data.shape[-1]) if data.ndim > 2 else data.reshape(-1, 1)
    target = made.reshape(channels.shape)
    for place in range(channels.shape[1]):
        counts = np.bincount(channels[:, place], minlength=256)
        running = counts.cumsum()
        first = counts[np.flatnonzero(counts)[0]] if len(channels) else 0
        rest = len(channels) - first
        table = np.arange(256) if rest == 0 else np.clip((running - first) * (255 / rest) + 0.5, 0, 255)
        target[:, place] = np.floor(table).astype(np.uint8)[channels[:, place]]
    return made
