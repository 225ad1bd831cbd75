"""Which part of a picture becomes what part of a result, and how boxes, masks and points follow."""
import math
from typing import NamedTuple, Optional

ATTEMPTS = 10
# How far a filter reaches, in pixels of the larger of both pictures.
REACH = {"nearest": 0.5, "box": 0.5, "bilinear": 1.0, "hamming": 1.0, "bicubic": 2.0, "lanczos": 3.0}


class Geometry(NamedTuple):
    """The way of a picture into a result; None stands for all of it.

    Parameters
    ----------
    region : tuple of int, optional
        (top, left, height, width) of the pixels that are seen.
    box : tuple of float, optional
        What is spread over the result, in pixels of the picture, within the region.
    place : tuple of int, optional
        The part of the result that is written; the rest is filled.
    mirror : bool, optional, default=False
        Whether left and right are exchanged, at last.
    upside_down : bool, optional, default=False
        Whether top and bottom are.

    """

    region: Optional[tuple] = None
    box: Optional[tuple] = None
    place: Optional[tuple] = None
    mirror: bool = False
    upside_down: bool = False


def pair(size):
    """Return (height, width) of a size, which may be one number for both."""
    height, width = (size, size) if isinstance(size, int) else size
    if height < 1 or width < 1:
        raise ValueError(f"size: got {size!r}, expected positive numbers")
    return height, width


def random_resized_crop(picture, draws, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), attempts=ATTEMPTS):
    """Return a random region for a result of any size, as Inception's authors trained.

    Parameters
    ----------
    picture : tuple of int
        Height and width.
    draws : dragon.io.draws.Draws
        Random numbers: `uniform(low, high)` and `integer(count)` are called.
    scale : tuple of float, optional, default=(0.08, 1.0)
        Which part of the picture's area it covers.
    ratio : tuple of float, optional, default=(3 / 4, 4 / 3)
        Width over height.
    attempts : int, optional, default=10
        How often a region is drawn that may reach beyond the picture, before the largest in the middle is taken.

    Returns
    -------
    tuple of int
        (top, left, height, width).

    """
    rows, columns = picture
    low, high = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(attempts):
        area = rows * columns * draws.uniform(*scale)
        shape = math.exp(draws.uniform(low, high))
        width, height = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if 0 < width <= columns and 0 < height <= rows:
            return draws.integer(rows - height + 1), draws.integer(columns - width + 1), height, width
    # The largest one in the middle whose shape is allowed.
    height, width = rows, columns
    if columns / rows < ratio[0]:
        height = min(rows, max(1, round(columns / ratio[0])))
    elif columns / rows > ratio[1]:
        width = min(columns, max(1, round(rows * ratio[1])))
    return (rows - height) // 2, (columns - width) // 2, height, width


def random_crop(picture, draws, size):
    """Return a random region of a size; the picture must be as large."""
    height, width = pair(size)
    if height > picture[0] or width > picture[1]:
        raise ValueError(f"random_crop: got size {height} x {width} of a picture of {picture[0]} x {picture[1]}, "
                         "expected a smaller one")
    return draws.integer(picture[0] - height + 1), draws.integer(picture[1] - width + 1), height, width


def resized_center_crop(picture, size, shorter=None, filter="bilinear"):
    """Return the geometry of a picture that is resized, and of which the middle is kept; both happen in one step.

    Parameters
    ----------
    picture : tuple of int
        Height and width.
    size : Union[int, tuple of int]
        Of the result.
    shorter : int, optional
        What the picture's shorter side is resized to; the size's shorter side by default.
    filter : str, optional, default="bilinear"
        How far pixels see around them.

    Returns
    -------
    Geometry
        The way of the picture.

    """
    rows, columns = picture
    height, width = pair(size)
    shorter = shorter or min(height, width)
    if rows <= columns:
        new_rows, new_columns = shorter, max(1, int(shorter * columns / rows))
    else:
        new_rows, new_columns = max(1, int(shorter * rows / columns)), shorter
    kept = min(height, new_rows), min(width, new_columns)
    top, left = round((new_rows - kept[0]) / 2), round((new_columns - kept[1]) / 2)
    down, across = rows / new_rows, columns / new_columns
    box = top * down, left * across, kept[0] * down, kept[1] * across
    region = surroundings(box, (down, across), (0, 0, rows, columns), filter)
    # What the resized picture lacks is filled, half on either side.
    place = (height - kept[0]) // 2, (width - kept[1]) // 2, *kept
    return Geometry(region, box, None if kept == (height, width) else place)


def surroundings(box, steps, whole, filter="bilinear"):
    """Return the region that has to be decoded for a box: a filter looks at pixels around it.

    Parameters
    ----------
    box : tuple of float
        (top, left, height, width) of what is spread over a result.
    steps : tuple of float
        How many pixels become one, down and across.
    whole : tuple of int
        (top, left, height, width) of what there is to see.
    filter : str, optional, default="bilinear"
        How far pixels see around them.

    Returns
    -------
    tuple of int
        (top, left, height, width).

    """
    reach = [REACH[filter] * max(step, 1) + 1 for step in steps]
    first = [max(whole[axis], math.floor(box[axis] - reach[axis])) for axis in (0, 1)]
    last = [min(whole[axis] + whole[axis + 2], math.ceil(box[axis] + box[axis + 2] + reach[axis])) for axis in (0, 1)]
    return first[0], first[1], last[0] - first[0], last[1] - first[1]


def letterbox(picture, size, enlarge=True, center=True):
    """Return the geometry of a whole picture that is fitted into a size; the rest is filled.

    Parameters
    ----------
    picture : tuple of int
        Height and width.
    size : Union[int, tuple of int]
        Of the result.
    enlarge : bool, optional, default=True
        Whether small pictures are made larger.
    center : bool, optional, default=True
        Whether it lies in the middle; else in the upper left corner.

    Returns
    -------
    Geometry
        The way of the picture.

    """
    height, width = pair(size)
    times = min(height / picture[0], width / picture[1])
    times = times if enlarge else min(times, 1.0)
    rows, columns = (min(most, max(1, round(side * times))) for side, most in zip(picture, (height, width)))
    top, left = ((height - rows) // 2, (width - columns) // 2) if center else (0, 0)
    return Geometry(None, None, None if (rows, columns) == (height, width) else (top, left, rows, columns))


def resolved(geometry, picture, size):
    """Return (box, place) of a geometry, nothing of it being left out."""
    region = geometry.region or (0, 0, *picture)
    return geometry.box or region, geometry.place or (0, 0, *pair(size))


def move_points(points, geometry, picture, size):
    """Return points (..., 2) of a picture, x first, as points of the result; edges of pixels are whole numbers."""
    import numpy as np
    height, width = pair(size)
    (top, left, rows, columns), place = resolved(geometry, picture, size)
    points = np.asarray(points, float)
    x = (points[..., 0] - left) * (place[3] / columns) + place[1]
    y = (points[..., 1] - top) * (place[2] / rows) + place[0]
    if geometry.mirror:
        x = 2 * place[1] + place[3] - x
    if geometry.upside_down:
        y = 2 * place[0] + place[2] - y
    return np.stack((x, y), -1)


def move_boxes(boxes, geometry, picture, size):
    """Return boxes (..., 4) of corners x1, y1, x2, y2 as boxes of the result, cut where the picture ends.

    What lies outside altogether becomes a box of no area: x2 <= x1 or y2 <= y1 holds for it, and for no other.
    """
    import numpy as np
    boxes = np.asarray(boxes, float)
    _, (top, left, rows, columns) = resolved(geometry, picture, size)
    corners = move_points(boxes.reshape(*boxes.shape[:-1], 2, 2), geometry, picture, size)
    low, high = corners.min(-2), corners.max(-2)
    most = np.array((left + columns, top + rows), float)
    return np.concatenate((low.clip((left, top), most), high.clip((left, top), most)), -1)


def move_mask(mask, geometry, size, fill=0):
    """Return a mask [height, width] of any dtype as that of the result: each pixel is its nearest one."""
    import numpy as np
    mask = np.asarray(mask)
    height, width = pair(size)
    (top, left, rows, columns), place = resolved(geometry, mask.shape[:2], size)
    down, across = (np.floor(start + (np.arange(count) + 0.5) * (length / count)).astype(np.int64).clip(0, most - 1)
                    for start, count, length, most in ((top, place[2], rows, mask.shape[0]),
                                                       (left, place[3], columns, mask.shape[1])))
    down = down[::-1] if geometry.upside_down else down
    across = across[::-1] if geometry.mirror else across
    made = np.full((height, width, *mask.shape[2:]), fill, mask.dtype)
    made[place[0]:place[0] + place[2], place[1]:place[1] + place[3]] = mask[down[:, None], across]
    return made
