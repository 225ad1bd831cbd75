"""Blurs, edges and other filters of a picture's neighbourhoods, and regular holes."""
import numpy as np

from dragon.vm.dali.core.operators.values import convert, kind_or, number, spatial, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator

BORDERS = {"reflect_101": "reflect", "reflect_1001": "symmetric", "clamp": "edge", "wrap": "wrap", "fill": "constant"}


def along(data, axis, kernel):
    """Return an array filtered along an axis; at the ends it is mirrored at the last element."""
    reach = len(kernel) // 2
    wide = np.moveaxis(data, axis, -1)
    wide = np.pad(wide, [(0, 0)] * (wide.ndim - 1) + [(reach, len(kernel) - 1 - reach)], "reflect") \
        if wide.shape[-1] > 1 else np.repeat(wide, len(kernel), -1)
    made = np.zeros((*wide.shape[:-1], wide.shape[-1] - len(kernel) + 1), np.float32)
    for place, weight in enumerate(np.asarray(kernel, np.float32)):
        made += weight * wide[..., place:place + made.shape[-1]]
    return np.moveaxis(made, -1, axis)


def bell(sigma, size):
    """Return the weights of a Gaussian window."""
    x = np.arange(size) - size // 2
    weights = np.exp(-x * x / (2 * sigma * sigma))
    return weights / weights.sum()


@operator()
def gaussian_blur(data, *, sigma=(0.0,), window_size=(0,), dtype=None, context):
    """Blur a picture."""
    axes, _ = spatial(context.layout, data.ndim, "fn.gaussian_blur")
    sigmas, sizes = vector(sigma, len(axes)), vector(window_size, len(axes)).astype(int)
    result = data.astype(np.float32)
    for axis, width, size in zip(axes, sigmas, sizes):
        if width < 0 or size < 0 or (width == 0 == size):
            raise RuntimeError(got("fn.gaussian_blur", f"sigma={width} and window_size={size}",
                                   "one of them, positive"))
        if size and size % 2 == 0:
            raise RuntimeError(got("fn.gaussian_blur", f"window_size={size}", "an odd number"))
        size = size or 2 * int(np.ceil(3 * width)) + 1
        width = width or (size // 2 - 1) * 0.3 + 0.8
        result = along(result, axis, bell(width, size))
    return convert(result, kind_or(dtype, data))


def _binomial(size):
    row = np.array([1.0])
    for _ in range(size - 1):
        row = np.convolve(row, [1, 1])
    return row


@operator()
def laplacian(data, *, window_size=(3,), smoothing_size=None, scale=(1.0,), normalized_kernel=False, dtype=None,
              context):
    """Return the sum of second derivatives along the axes of a picture."""
    axes, _ = spatial(context.layout, data.ndim, "fn.laplacian")
    count = len(axes)
    sizes = vector(window_size, count).astype(int)
    smooth = None if smoothing_size is None else vector(smoothing_size, count).astype(int)
    scales = vector(scale, count)
    if any(size % 2 == 0 or size < 3 for size in sizes):
        raise RuntimeError(got("fn.laplacian", f"window_size={sizes.tolist()}", "odd numbers from 3 on"))
    made = 0
    for place, (main, size) in enumerate(zip(axes, sizes)):
        part, exponent = data.astype(np.float32), 0
        for number_of, axis in enumerate(axes):
            if axis == main:
                kernel = np.convolve(_binomial(size - 2), [1, -2, 1])
                exponent += size - 3
            else:
                width = size if smooth is None else smooth[number_of]
                kernel, exponent = _binomial(width), exponent + width - 1
            part = along(part, axis, kernel)
        factor = 2.0 ** -exponent if normalized_kernel else scales[place]
        made = made + np.float32(factor) * part
    return convert(made, kind_or(dtype, data))


@operator("filter")
def filter_of(data, kernel, fill=None, *, anchor=(-1,), border="reflect_101", mode="same", dtype=None, context):
    """Filter a picture with a window of one's own."""
    axes, _ = spatial(context.layout, data.ndim, "fn.filter")
    if border not in BORDERS:
        raise ValueError(got("fn.filter", f"border={border!r}", f"one of {sorted(BORDERS)}"))
    if mode not in ("same", "valid"):
        raise ValueError(got("fn.filter", f"mode={mode!r}", "'same' or 'valid'"))
    places = [size // 2 if place == -1 else int(place) for place, size in zip(vector(anchor, len(axes)), kernel.shape)]
    wide = data.astype(np.float32)
    if mode == "same":
        pads = [(0, 0)] * data.ndim
        for axis, place, size in zip(axes, places, kernel.shape):
            pads[axis] = (place, size - 1 - place)
        options = {"constant_values": 0 if fill is None else number(fill)} if border == "fill" else {}
        wide = np.pad(wide, pads, BORDERS[border], **options)
    shape = list(wide.shape)
    for axis, size in zip(axes, kernel.shape):
        shape[axis] -= size - 1
    made = np.zeros(shape, np.float32)
    for place in np.ndindex(*kernel.shape):
        region = [slice(None)] * data.ndim
        for axis, start in zip(axes, place):
            region[axis] = slice(start, start + shape[axis])
        made += np.float32(kernel[place]) * wide[tuple(region)]
    return convert(made, kind_or(dtype, data))


@operator()
def grid_mask(data, *, angle=0.0, ratio=0.5, shift_x=0.0, shift_y=0.0, tile=100):
    """Write zeros into the squares of a grid that is turned by an angle."""
    turn, size, part = number(angle), number(tile), number(ratio)
    y, x = np.meshgrid(*(np.arange(extent, dtype=np.float32) for extent in data.shape[:2]), indexing="ij")
    cos, sin = np.float32(np.cos(turn) / size), np.float32(np.sin(turn) / size)
    across = x * cos - y * sin - np.float32(number(shift_x) / size)
    down = x * sin + y * cos - np.float32(number(shift_y) / size)
    holes = (across - np.floor(across) < part) & (down - np.floor(down) < part)
    return np.where(holes[..., None], data.dtype.type(0), data)
