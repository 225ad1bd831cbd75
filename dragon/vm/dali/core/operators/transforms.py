"""Matrices of affine transforms, and coordinates that they are applied to."""
import numpy as np

from dragon.vm.dali.core.kinds import FLOAT, to_dali_type
from dragon.vm.dali.core.operators.values import convert, number, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator


def _chain(matrix, before, reverse_order):
    """Return a transform that follows another one, or comes before it."""
    if before is None:
        return Laid(matrix.astype(np.float32), "**")
    if before.shape != matrix.shape:
        raise RuntimeError(got("fn.transforms", f"a transform of shape {before.shape}", f"{matrix.shape}"))
    first, second = (matrix, before) if reverse_order else (before, matrix)
    return Laid(_product(second, first).astype(np.float32), "**")


def _whole(matrix):
    return np.vstack([np.asarray(matrix, np.float64), [0.0] * (len(matrix)) + [1.0]])


def _product(second, first):
    return (_whole(second) @ _whole(first))[:-1]


def affine(linear, offset=None, center=None):
    """Return the matrix of a linear map about a center, and of an offset."""
    size = len(linear)
    shift = np.zeros(size) if offset is None else offset
    if center is not None:
        center = vector(center, size, "fn.transforms(center=)")
        shift = shift + center - linear @ center
    return np.hstack([linear, shift[:, None]])


def turning(angle, axis=None):
    """Return the matrix of a rotation: in the plane, or in space about an axis."""
    cos, sin = np.cos(angle), np.sin(angle)
    if axis is None:
        return np.array([[cos, -sin], [sin, cos]])
    x, y, z = axis / np.linalg.norm(axis)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return cos * np.eye(3) + sin * across + (1 - cos) * np.outer([x, y, z], [x, y, z])


@operator("transforms.translation")
def translation(before=None, *, offset, reverse_order=False):
    """Return the transform that adds an offset."""
    offset = vector(offset)
    return _chain(affine(np.eye(len(offset)), offset), before, reverse_order)


@operator("transforms.scale")
def scale(before=None, *, scale, center=None, ndim=None, reverse_order=False):
    """Return the transform that scales each axis."""
    scale = vector(scale)
    count = ndim or (len(scale) if len(scale) > 1 else np.size(center) if center is not None
                     else len(before) if before is not None else len(scale))
    return _chain(affine(np.diag(vector(scale, count)), center=center), before, reverse_order)


@operator("transforms.rotation")
def rotation(before=None, *, angle, axis=None, center=None, reverse_order=False):
    """Return the transform that turns by degrees, in space about an axis."""
    axis = None if axis is None or np.size(axis) == 0 else vector(axis, 3)
    return _chain(affine(turning(np.deg2rad(number(angle)), axis), center=center), before, reverse_order)


@operator("transforms.shear")
def shear(before=None, *, shear=None, angles=None, center=None, reverse_order=False):
    """Return the transform that shears, by factors or by angles in degrees."""
    if (shear is None) == (angles is None):
        raise RuntimeError(got("fn.transforms.shear", "shear and angles" if shear is not None else "neither shear nor "
                               "angles", "one of them"))
    factors = vector(shear) if shear is not None else np.tan(np.deg2rad(vector(angles)))
    if len(factors) == 2:
        linear = np.array([[1, factors[0]], [factors[1], 1]])
    elif len(factors) == 6:
        xy, xz, yx, yz, zx, zy = factors
        linear = np.array([[1, xy, xz], [yx, 1, yz], [zx, zy, 1]])
    else:
        raise RuntimeError(got("fn.transforms.shear", f"{len(factors)} factors", "2, or 6 in space"))
    return _chain(affine(linear, center=center), before, reverse_order)


@operator("transforms.crop")
def crop(before=None, *, from_start=(0.0,), from_end=(1.0,), to_start=(0.0,), to_end=(1.0,), absolute=False,
         reverse_order=False):
    """Return the transform that maps one box to another."""
    rows = [vector(one) for one in (from_start, from_end, to_start, to_end)]
    count = max(map(len, rows))
    count = len(before) if count == 1 and before is not None else count
    start, end, to, until = (vector(row, count) for row in rows)
    if absolute:
        start, end, to, until = (np.minimum(start, end), np.maximum(start, end), np.minimum(to, until),
                                 np.maximum(to, until))
    if np.any(start == end):
        raise RuntimeError(got("fn.transforms.crop", "a box without extent", "from_start and from_end that differ"))
    factor = (until - to) / (end - start)
    return _chain(affine(np.diag(factor), to - factor * start), before, reverse_order)


@operator("transforms.combine")
def combine(first, second, *others, reverse_order=False):
    """Return several transforms, one after the other, as one."""
    matrices = [first, second, *others]
    matrices = matrices[::-1] if reverse_order else matrices
    made = matrices[0]
    for matrix in matrices[1:]:
        made = _product(matrix, made)
    return Laid(np.asarray(made, np.float32), "**")


@operator()
def coord_transform(data, *, M=None, T=None, MT=None, dtype=FLOAT):
    """Apply a transform to coordinates, which the last axis holds."""
    size = data.shape[-1]
    if dtype not in (FLOAT, to_dali_type(data.dtype)):
        raise RuntimeError(got("fn.coord_transform", f"dtype={dtype}", "FLOAT, or the type of the coordinates"))
    if MT is not None and (M is not None or T is not None):
        raise RuntimeError(got("fn.coord_transform", "MT with M or T", "one way to say the transform"))
    linear, offset = np.eye(size), np.zeros(1)
    if MT is not None:
        whole = np.reshape(np.asarray(MT, np.float64), (-1, size + 1)) if np.ndim(MT) < 2 else np.asarray(MT, float)
        linear, offset = whole[:, :-1], whole[:, -1]
    if M is not None:
        linear = np.asarray(M, np.float64)
        linear = linear * np.eye(size) if linear.ndim == 0 else linear.reshape(-1, size)
    if T is not None:
        offset = vector(T)
    if linear.shape[1] != size:
        raise RuntimeError(got("fn.coord_transform", f"a matrix of {linear.shape}", f"{size} columns"))
    made = data.astype(np.float64) @ linear.T + offset
    return Laid(convert(made.astype(np.float32), dtype), "")


@operator()
def coord_flip(data, *, flip_x=1, flip_y=0, flip_z=0, center_x=0.5, center_y=0.5, center_z=0.5, layout=""):
    """Turn coordinates round about a center, along some axes."""
    letters = layout or "xyz"[:data.shape[-1]]
    if len(letters) != data.shape[-1]:
        raise RuntimeError(got("fn.coord_flip", f"layout {layout!r} for {data.shape[-1]} coordinates", "a letter each"))
    told = {"x": (flip_x, center_x), "y": (flip_y, center_y), "z": (flip_z, center_z)}
    made = data.copy()
    for place, letter in enumerate(letters):
        turned, center = told[letter]
        if number(turned):
            made[..., place] = np.float32(2 * number(center)) - data[..., place]
    return made


@operator()
def bb_flip(boxes, *, horizontal=1, vertical=0, ltrb=False):
    """Turn boxes round within the unit square."""
    made = boxes.astype(np.float32).reshape(-1, 4).copy()
    for axis, turned in ((0, horizontal), (1, vertical)):
        if number(turned):
            low, other = made[:, axis].copy(), made[:, axis + 2].copy()
            made[:, axis] = 1 - other if ltrb else 1 - low - other
            if ltrb:
                made[:, axis + 2] = 1 - low
    return made.reshape(boxes.shape)


@operator()
def bbox_paste(boxes, *, ratio, paste_x=0.5, paste_y=0.5, ltrb=False):
    """Tell boxes as parts of the larger canvas that their picture is pasted onto."""
    scale = number(ratio)
    made = boxes.astype(np.float32).reshape(-1, 4) / np.float32(scale)
    start = np.float32([number(paste_x) * (1 - 1 / scale), number(paste_y) * (1 - 1 / scale)])
    made[:, :2] += start
    if ltrb:
        made[:, 2:] += start
    return made.reshape(boxes.shape)
