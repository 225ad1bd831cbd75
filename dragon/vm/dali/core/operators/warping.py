"""Pictures that are turned round, rotated and warped."""
import math

import numpy as np

from dragon.vm.dali.core.kinds import INTERP_LINEAR, INTERP_NN
from dragon.vm.dali.core.operators.pictures import call
from dragon.vm.dali.core.operators.transforms import affine, turning
from dragon.vm.dali.core.operators.values import convert, kind_or, number, spatial, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator

FRAME = 2  # pixels, of which two are read at once


@operator()
def flip(data, *, horizontal=1, vertical=0, depthwise=0, context):
    """Turn a picture round."""
    axes, _ = spatial(context.layout, data.ndim, "fn.flip")
    turned = [number(depthwise), number(vertical), number(horizontal)][-len(axes):]
    return np.flip(data, [axis for axis, turn in zip(axes, turned) if turn])


def sample(data, places, interp, fill_value):
    """Return the values of a picture, channels last, at places between its pixels.

    Parameters
    ----------
    data : numpy.ndarray
        The picture: some axes of places, and the channels.
    places : Sequence[numpy.ndarray]
        For each axis, where to look; a pixel's middle is at its number and a half.
    interp : int
        INTERP_NN or INTERP_LINEAR.
    fill_value : float, optional
        What is outside; the nearest pixel by default.

    """
    sizes = data.shape[:-1]
    if not places[0].size:
        return np.zeros((*places[0].shape, data.shape[-1]), np.float32)
    if interp == INTERP_NN:
        found = [np.floor(place).astype(int) for place in places]
        nearest = np.ravel_multi_index(found, sizes, mode="clip")
        made = data.reshape(math.prod(sizes), data.shape[-1]).take(nearest, 0).astype(np.float32)
        if fill_value is None:
            return made
        inside = np.logical_and.reduce([(0 <= one) & (one < size) for one, size in zip(found, sizes)])
        return np.where(inside[..., None], made, np.float32(fill_value))
    if interp != INTERP_LINEAR:
        raise RuntimeError(got("interp_type", interp, "INTERP_NN or INTERP_LINEAR"))
    if 0 in sizes:
        raise RuntimeError(got("a warp", f"a picture of shape {data.shape}", "at least one pixel"))
    if fill_value is not None:  # a frame of it: what is further out is read between its pixels
        framed = np.full([*(size + 2 * FRAME for size in sizes), data.shape[-1]], fill_value, np.float32)
        framed[(slice(FRAME, -FRAME),) * len(sizes)] = data
        data = framed
        places = [np.clip(place + FRAME, 1, size - 1) for place, size in zip(places, framed.shape)]
    # The engine's points run from -1 to 1, x before y.
    points = [place * np.float32(2 / size) - np.float32(1) for place, size in zip(places, data.shape)]
    made = call("grid_sample", data.astype(np.float32)[None], np.stack(points[::-1], -1)[None],
                padding_mode="border")[0]
    made[~np.isfinite(sum(points))] = np.nan
    return made


def walk(matrix, sizes):
    """Return where the pixels of a result are in the input: row by row, each a step behind the one before.

    Steps are added up in single precision, as DALI does: which pixel is the nearest one may hang on it.

    Parameters
    ----------
    matrix : numpy.ndarray
        Maps places of the result to those of the input, x before y.
    sizes : Sequence[int]
        Of the result.

    Returns
    -------
    List[numpy.ndarray]
        For each axis of the input, where to look.

    """
    rows = np.meshgrid(*(np.arange(size, dtype=np.float32) + np.float32(0.5) for size in sizes[:-1]), indexing="ij")
    places = []
    for row in matrix[::-1]:
        steps = np.full(tuple(sizes), row[0], np.float32)
        first = row[0] * np.float32(0.5)
        for factor, grid in zip(row[1:], rows[::-1]):
            first = first + factor * grid
        steps[..., :1] = (first + row[-1])[..., None]
        places.append(np.add.accumulate(steps, -1, dtype=np.float32))
    return places


def warp(data, layout, matrix, sizes, interp, fill_value, kind, who):
    """Return a picture whose places, x before y, are mapped by a matrix to places in another one."""
    axes, channel = spatial(layout, data.ndim, who)
    if data.ndim > len(axes) + (channel is not None):
        frames = [warp(frame, layout[1:], matrix, sizes, interp, fill_value, kind, who) for frame in data]
        return np.stack(frames)
    moved = data[..., None] if channel is None else np.moveaxis(data, channel, -1)
    places = walk(np.asarray(matrix, np.float32), sizes)
    made = convert(sample(moved, places, interp, fill_value), kind)
    return made[..., 0] if channel is None else np.moveaxis(made, -1, channel)


def inverse(matrix):
    """Return the transform that undoes another one."""
    linear = np.linalg.inv(matrix[:, :-1])
    return np.hstack([linear, -linear @ matrix[:, -1:]])


@operator()
def warp_affine(data, transform=None, *, matrix=(), size=(), interp_type=INTERP_LINEAR, fill_value=None,
                inverse_map=True, dtype=None, output_dtype=None, context):
    """Warp a picture: the matrix maps places of the result to those of the input, x before y."""
    axes, _ = spatial(context.layout, data.ndim, "fn.warp_affine")
    given = transform if transform is not None else np.asarray(matrix, np.float64)
    if np.size(given) != len(axes) * (len(axes) + 1):
        raise RuntimeError(got("fn.warp_affine", f"a matrix of {np.size(given)} numbers",
                               f"{len(axes) * (len(axes) + 1)}"))
    given = np.reshape(given, (len(axes), -1)).astype(np.float64)
    sizes = vector(size, len(axes)).astype(int) if np.size(size) else [data.shape[axis] for axis in axes]
    return warp(data, context.layout, given if inverse_map else inverse(given), sizes, int(interp_type), fill_value,
                kind_or(dtype if dtype is not None else output_dtype, data), "fn.warp_affine")


def canvas(extents, turn):
    """Return the extents of the box around what is turned: even or odd as that which each of them mostly comes from.

    Parameters
    ----------
    extents : Sequence[int]
        Along x, y and perhaps z.
    turn : numpy.ndarray
        The matrix of the rotation.

    """
    shares = np.abs(turn)
    wide = np.ceil(shares @ np.asarray(extents, np.float64) - 0.01).astype(int)
    # Of equal shares, an axis's own is the one.
    main = np.where(shares.max(1) > np.diag(shares), shares.argmax(1), np.arange(len(wide)))
    return wide + (wide - np.asarray(extents)[main]) % 2


def rotation(angle, axis=None):
    """Return the matrix of a rotation by degrees, which are rounded as DALI's are."""
    matrix = turning(np.float64(np.deg2rad(np.float32(angle))), axis)
    return matrix if axis is None else matrix.astype(np.float32)  # in which equal shares of two axes are equal


@operator()
def rotate(data, *, angle, axis=None, size=(), keep_size=False, interp_type=INTERP_LINEAR, fill_value=None, dtype=None,
           output_dtype=None, context):
    """Turn a picture by degrees, against the clock, or a volume about an axis; the result holds all of it."""
    who = "fn.rotate"
    axes, _ = spatial(context.layout, data.ndim, who)
    if len(axes) == 3 and (axis is None or np.size(axis) != 3 or not np.any(axis)):
        raise RuntimeError(got(who, f"axis={axis} for a volume", "the three numbers of a direction"))
    # From places of the result to those of the input: in a plane whose y points down, that turns the other way.
    linear = rotation(number(angle)) if len(axes) == 2 else rotation(-number(angle), vector(axis, 3))
    extents = np.array([data.shape[axis] for axis in reversed(axes)])
    if np.size(size):
        wide = vector(size, len(axes)).astype(int)[::-1]
    else:
        wide = extents if keep_size else canvas(extents, linear.T)
    matrix = affine(linear, extents / 2 - linear @ (wide / 2))
    return warp(data, context.layout, matrix, tuple(map(int, wide[::-1])), int(interp_type), fill_value,
                kind_or(dtype if dtype is not None else output_dtype, data), who)


@operator()
def water(data, *, ampl_x=10.0, ampl_y=10.0, freq_x=0.049087, freq_y=0.049087, phase_x=0.0, phase_y=0.0,
          fill_value=0.0, interp_type=INTERP_NN, mask=1):
    """Move pixels along waves."""
    if not number(mask):
        return data
    y, x = np.meshgrid(*(np.arange(size, dtype=np.float32) for size in data.shape[:2]), indexing="ij")
    across, down = x + ampl_x * np.sin(freq_x * y + phase_x), y + ampl_y * np.cos(freq_y * x + phase_y)
    return convert(sample(data, (down, across), int(interp_type), fill_value), data.dtype)


@operator()
def sphere(data, *, fill_value=0.0, interp_type=INTERP_NN, mask=1):
    """Bend a picture as on a ball."""
    if not number(mask):
        return data
    height, width = data.shape[:2]
    y, x = np.meshgrid(*(np.arange(size, dtype=np.float32) + np.float32(0.5 - size / 2) for size in (height, width)),
                       indexing="ij")
    far = np.sqrt(x * x + y * y) / np.float32(max(height, width) // 2)
    across, down = np.float32(width / 2) + far * x, np.float32(height / 2) + far * y
    return convert(sample(data, (down, across), int(interp_type), fill_value), data.dtype)
