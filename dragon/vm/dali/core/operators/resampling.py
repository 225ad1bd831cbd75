"""Filters that make pixels of their neighbours, and what runs them along one axis after the other."""
import functools

import numpy as np

from dragon.vm.dali.core.kinds import INTERP_CUBIC, INTERP_GAUSSIAN, INTERP_LANCZOS3, INTERP_LINEAR, INTERP_NN
from dragon.vm.dali.core.kinds import INTERP_TRIANGULAR
from dragon.vm.dali.core.operators.values import convert


def _cubic(x):
    x = np.abs(x)
    return np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, np.where(x < 2, ((-0.5 * x + 2.5) * x - 4) * x + 2, 0))


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
FILTERS = {INTERP_LINEAR: (_triangle, 1), INTERP_TRIANGULAR: (_triangle, 1), INTERP_CUBIC: (_read(_cubic, 2), 2),
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
    if _fits_pillow(data, axes, low, high, kinds, antialias, dtype):
        return _by_pillow(data, sizes, low, high)
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


def _fits_pillow(data, axes, low, high, kinds, antialias, dtype):
    """Return whether Pillow's filter is the same one: it works on bytes, and holds no interpreter lock."""
    return (data.dtype == np.uint8 == dtype and data.ndim == 3 and list(axes) == [0, 1] and data.shape[2] in (1, 3, 4)
            and antialias and set(kinds) <= {INTERP_LINEAR, INTERP_TRIANGULAR} and min(data.shape) > 0
            and all(0 <= start < stop <= size for start, stop, size in zip(low, high, data.shape)))


def _by_pillow(data, sizes, low, high):
    from dragon.vm.dali.core.pillow import pillow
    library = pillow("fn.resize")
    plain = np.ascontiguousarray(data[..., 0] if data.shape[2] == 1 else data)
    # Pillow leaves out what is beyond the picture's edge, where here the edge goes on.
    pads = [_reach(*row) for row in zip(data.shape, sizes, low, high)]
    if any(map(any, pads)):
        plain = _widened(plain, *pads)
    (top, _), (left, _) = pads
    box = (float(low[1] + left), float(low[0] + top), float(high[1] + left), float(high[0] + top))
    made = np.asarray(library.fromarray(plain).resize((int(sizes[1]), int(sizes[0])), library.Resampling.BILINEAR, box))
    return made[..., None] if data.shape[2] == 1 else made


def _widened(plain, rows, columns):
    """Return a picture whose edges go on for some rows and columns; NumPy's `pad` takes several times as long."""
    (top, bottom), (left, right) = rows, columns
    height, width = plain.shape[:2]
    made = np.empty((top + height + bottom, left + width + right, *plain.shape[2:]), plain.dtype)
    made[top:top + height, left:left + width] = plain
    made[top:top + height, :left], made[top:top + height, left + width:] = plain[:, :1], plain[:, -1:]
    made[:top], made[top + height:] = made[top], made[top + height - 1]
    return made


def _reach(size, target, start, stop):
    """Return how many pixels a filter looks at beyond a picture's edges."""
    if (start, stop) == (0, size) and target == size:
        return (0, 0)
    radius = max((stop - start) / target, 1)
    return max(0, int(np.ceil(radius - start))), max(0, int(np.ceil(radius + stop - size)))
