"""Blurs, edges and other filters of a picture's neighbourhoods, and regular holes."""
import math

import numpy as np

from dragon.vm.dali.core.operators.pictures import call
from dragon.vm.dali.core.operators.values import convert, kind_or, number, spatial, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator

BORDERS = {"reflect_101": "reflect", "reflect_1001": "symmetric", "clamp": "edge", "wrap": "wrap", "fill": "constant"}


def along(data, axes, kernels):
    """Return an array filtered along some axes, each with its kernel; at its ends it is mirrored."""
    rows = list(zip(axes, kernels))
    while rows:
        count = 2 if len(rows) > 1 and rows[-1][0] == rows[-2][0] + 1 else 1
        (first, _), *_ = taken = rows[-count:]
        data, rows = _blurred(data, first, [kernel for _, kernel in taken]), rows[:-count]
    return data


def _blurred(data, first, kernels):
    """Return an array filtered along one axis, or two that are neighbours."""
    kernels = [[*kernel, 0.0] if len(kernel) % 2 == 0 else list(kernel) for kernel in kernels]
    kept = [slice(None)] * data.ndim
    for axis, kernel in enumerate(kernels, first):
        reach, size = len(kernel) // 2, data.shape[axis]
        if reach >= size > 0:  # mirrored more than once, which the engine leaves to others
            pads = [(reach, reach) if one == axis else (0, 0) for one in range(data.ndim)]
            data, kept[axis] = np.pad(data, pads, "reflect" if size > 1 else "edge"), slice(reach, reach + size)
    front, (height, *width), back = np.split(data.shape, [first, first + len(kernels)])
    pictures = data.reshape(math.prod(front), height, math.prod(width), math.prod(back))
    down, across = (*kernels, [1.0])[:2]
    return call("blur", pictures, across, down).reshape(data.shape)[tuple(kept)]


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
    kernels, kind = [], kind_or(dtype, data)
    for width, size in zip(sigmas, sizes):
        if width < 0 or size < 0 or (width == 0 == size):
            raise RuntimeError(got("fn.gaussian_blur", f"sigma={width} and window_size={size}",
                                   "one of them, positive"))
        if size and size % 2 == 0:
            raise RuntimeError(got("fn.gaussian_blur", f"window_size={size}", "an odd number"))
        size = size or 2 * int(np.ceil(3 * width)) + 1
        width = width or (size // 2 - 1) * 0.3 + 0.8
        kernels.append(bell(width, size))
    # Bytes that become bytes are read and written as such, unless they are to be rounded more than once.
    is_whole = data.dtype == np.uint8 == kind and len(axes) == 2 and axes[1] == axes[0] + 1
    return convert(along(data if is_whole else data.astype(np.float32), axes, kernels), kind)


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
    made, wide = 0, data.astype(np.float32)
    for place, (main, size) in enumerate(zip(axes, sizes)):
        widths = [size] * count if smooth is None else smooth
        kernels = [np.convolve(_binomial(size - 2), [1, -2, 1]) if axis == main else _binomial(width)
                   for axis, width in zip(axes, widths)]
        exponent = sum(map(len, kernels)) - count - 2
        factor = 2.0 ** -exponent if normalized_kernel else scales[place]
        made = made + np.float32(factor) * along(wide, axes, kernels)
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
    axes = axes[:kernel.ndim]
    moved = np.moveaxis(wide, axes, range(-len(axes), 0))
    front, sizes = moved.shape[:-len(axes)], moved.shape[-len(axes):]
    made = np.zeros((*front, *np.add(np.subtract(sizes, kernel.shape), 1)), np.float32)
    if made.size:
        pictures = moved.reshape(math.prod(front), *sizes, 1)
        # `conv` itself would compute in half precision under autocast.
        ones = [1] * len(axes)
        made = call("conv_forward", pictures, kernel.astype(np.float32)[None, None], None, size=made.shape[-len(axes):],
                    stride=ones, padding=[0] * len(axes), dilation=ones, groups=1).reshape(made.shape)
    return convert(np.moveaxis(made, range(-len(axes), 0), axes), kind_or(dtype, data))


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
