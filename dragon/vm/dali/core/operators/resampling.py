"""Filters that make pixels of their neighbours, and what runs them along one axis after the other."""
import functools
import math

import numpy as np

from dragon.io.pictures.filters import keys
from dragon.vm.dali.core.kinds import INTERP_CUBIC, INTERP_GAUSSIAN, INTERP_LANCZOS3, INTERP_LINEAR, INTERP_NN
from dragon.vm.dali.core.kinds import INTERP_TRIANGULAR
from dragon.vm.dali.core.operators.pictures import call, write
from dragon.vm.dali.core.operators.values import convert


def _lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _triangle(x):
    return np.maximum(0, 1 - np.abs(x))


def _gauss(x):
    return np.where(np.abs(x) <= 1, np.exp(-4 * x * x), 0)  # two deviations of sqrt(1/8) each are its radius


def _read(function, reach):
    """Return a filter as DALI has it: read from a table between whose values are straight lines, the last one to 0."""
    places = np.arange(-reach * FINE - 1, reach * FINE + 2) / FINE
    table = np.where(np.abs(places) <= reach, function(places), 0).astype(np.float32)
    return lambda x: np.interp(x, places, table)


FINE = 32  # values of a table in one unit
# Filters: the function, and how far it reaches at scale 1.
FILTERS = {INTERP_LINEAR: (_triangle, 1), INTERP_TRIANGULAR: (_triangle, 1),
           INTERP_CUBIC: (_read(lambda x: keys(np.abs(x), np.where), 2), 2),
           INTERP_LANCZOS3: (_read(_lanczos, 3), 3), INTERP_GAUSSIAN: (_read(_gauss, 1), 1)}


@functools.lru_cache(256)
def weights(size, target, start, stop, kind, antialias):
    """Return the matrix that makes `target` places of `size` ones, between two places of these."""
    scale = (stop - start) / target
    centers = start + (np.arange(target) + 0.5) * scale
    function, reach = FILTERS[kind]
    stretch = max(abs(scale), 1.0) if antialias else 1.0
    radius = reach * stretch
    first = np.ceil(centers - radius - 0.5).astype(int)
    places = first[:, None] + np.arange(int(np.ceil(2 * radius)))
    values = function((places + 0.5 - centers[:, None]) / stretch)
    values /= values.sum(1, keepdims=True)
    matrix = np.zeros((target, size))
    np.add.at(matrix, (np.arange(target)[:, None], np.clip(places, 0, size - 1)), values)
    return matrix.astype(np.float32)


def resample(data, axes, sizes, low, high, kinds, antialias, dtype):
    """Return an array with some axes made of other sizes.

    Parameters
    ----------
    data : numpy.ndarray
        The array.
    axes, sizes : Sequence[int]
        Which axes, and how long they become.
    low, high : Sequence[float]
        The region that is looked at, along each of them.
    kinds : Tuple[int, int]
        The filter where things become smaller, and larger.
    antialias : bool
        Whether filters grow where things become smaller.
    dtype : numpy.dtype
        The type of the result.

    """
    if _is_blended(data, axes, sizes, low, high, kinds):
        return _blended(data, axes[0], [*map(int, sizes)], [*map(float, low)], [*map(float, high)], antialias, dtype)
    result = data
    nearest = all(kind == INTERP_NN for kind in kinds)
    # What shrinks goes first: less is left for the others.
    for axis, size, start, stop in sorted(zip(axes, sizes, low, high), key=lambda row: row[1] / data.shape[row[0]]):
        kind = kinds[0] if size < abs(stop - start) else kinds[1]
        if (start, stop) == (0, data.shape[axis]) == (0, size):
            continue
        if kind == INTERP_NN:
            result = result.take(_nearest(data.shape[axis], size, start, stop, axis == max(axes)), axis)
            continue
        matrix = weights(data.shape[axis], size, float(start), float(stop), int(kind), antialias)
        moved = np.moveaxis(result, axis, 0)
        flat = matrix @ moved.reshape(moved.shape[0], -1).astype(np.float32)
        result = np.moveaxis(flat.reshape(size, *moved.shape[1:]), 0, axis)
    return convert(result, dtype) if not nearest or dtype != data.dtype else result


def _nearest(size, target, start, stop, is_row):
    """Return the places that are nearest to `target` ones between two places, with the roundings that DALI's have."""
    start, step = np.float32(start), np.float32((stop - start) / target)
    if is_row:
        centers = start + (np.arange(target, dtype=np.float32) + np.float32(0.5)) * step
    else:
        centers = np.full(target, step, np.float32)
        centers[:1] = start + np.float32(0.5) * step
        centers = np.add.accumulate(centers, dtype=np.float32)
    return np.clip(np.floor(centers), 0, size - 1).astype(int)


def _is_blended(data, axes, sizes, low, high, kinds):
    """Return whether neighbours are blended within a region of height and width, which the engine does as well."""
    return (len(axes) == 2 and axes[1] == axes[0] + 1 and data.size > 0 and math.prod(sizes) < 1 << 31
            and set(kinds) <= {INTERP_LINEAR, INTERP_TRIANGULAR}
            and all(0 <= start < stop <= data.shape[axis] for axis, start, stop in zip(axes, low, high)))


def _blended(data, first, sizes, low, high, antialias, dtype):
    front, (height, width), back = data.shape[:first], data.shape[first:first + 2], data.shape[first + 2:]
    pictures = data.reshape(math.prod(front), height, width, math.prod(back))
    is_byte = data.dtype == np.uint8 == dtype and antialias and pictures.shape[-1] in (1, 3, 4)
    # The engine leaves out what is beyond a picture's edge, where here the edge goes on.
    pads = [_reach(*row) for row in zip((height, width), sizes, low, high)]
    pictures = pictures if is_byte else pictures.astype(np.float32, copy=False)
    pictures = _widened(pictures, *pads) if any(map(any, pads)) else pictures
    start = [begin + before for begin, (before, _) in zip(low, pads)]
    extents = [end - begin for begin, end in zip(low, high)]
    if is_byte:
        made = write(pictures, sizes, box=(*start, *extents), layout="NHWC", dtype="uint8")
    else:
        scale = [size / extent for size, extent in zip(sizes, extents)]
        shift = [-begin * factor for begin, factor in zip(start, scale)]
        made = convert(call("scale_and_translate", pictures, np.float32(scale), np.float32(shift), sizes,
                            mode="triangle", antialias=bool(antialias)), dtype)
    return made.reshape(*front, *sizes, *back)


def _widened(plain, rows, columns):
    """Return pictures whose edges go on for some rows and columns; NumPy's `pad` takes several times as long."""
    (top, bottom), (left, right) = rows, columns
    count, height, width, channels = plain.shape
    made = np.empty((count, top + height + bottom, left + width + right, channels), plain.dtype)
    inner = made[:, top:top + height]
    inner[:, :, left:left + width] = plain
    inner[:, :, :left], inner[:, :, left + width:] = plain[:, :, :1], plain[:, :, -1:]
    made[:, :top], made[:, top + height:] = inner[:, :1], inner[:, -1:]
    return made


def _reach(size, target, start, stop):
    """Return how many pixels a filter looks at beyond a picture's edges."""
    if (start, stop) == (0, size) and target == size:
        return (0, 0)
    radius = max((stop - start) / target, 1)
    return max(0, math.ceil(radius - start)), max(0, math.ceil(radius + stop - size))
