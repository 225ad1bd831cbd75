"""Boxes moved as their images are."""

import math

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing.bounding_boxes import joined, parts


def _require_corners(name, bounding_box_format):
    if bounding_box_format != "xyxy":
        raise NotImplementedError(f"{name}: got format {bounding_box_format}, expected xyxy")


def crop(boxes, top, left, height, width, bounding_box_format="xyxy"):
    """Return boxes as they are in a part of their image.

    Parameters
    ----------
    top, left, height, width : int
        The part.

    """
    _require_corners("crop", bounding_box_format)
    a, b, c, d = parts(K.convert_to_tensor(boxes))
    return joined(K.clip(a - left, 0, width), K.clip(b - top, 0, height), K.clip(c - left, 0, width),
                  K.clip(d - top, 0, height))


def pad(boxes, top, left, height=None, width=None, bounding_box_format="xyxy"):
    """Return boxes as they are in their image with borders around it.

    Parameters
    ----------
    top, left : int
        The borders above and on the left.
    height, width : Optional[int], optional
        Accepted, without effect.

    """
    _require_corners("pad", bounding_box_format)
    a, b, c, d = parts(K.convert_to_tensor(boxes))
    return joined(a + left, b + top, c + left, d + top)


def affine_transform(boxes, angle, translate_x, translate_y, scale, shear_x, shear_y, height, width, center_x=None,
                     center_y=None, bounding_box_format="xyxy"):
    """Return the upright boxes around boxes that were turned, moved, scaled and sheared.

    Parameters
    ----------
    boxes : Tensor
        Of shape `(batch, boxes, 4)`.
    angle, shear_x, shear_y : Tensor
        Degrees, for each image of the batch.
    translate_x, translate_y : Tensor
        Ways, as parts of the size.
    scale : Tensor
        Scales.
    height, width : int
        The size of the images.
    center_x, center_y : Optional[float], optional
        What they are turned about, as parts of the size: the middle by default.

    """
    _require_corners("affine_transform", bounding_box_format)
    radian = math.pi / 180.0
    turn, x_slope, y_slope = (-K.convert_to_tensor(x) * radian for x in (angle, shear_x, shear_y))
    x = (0.5 if center_x is None else center_x) * (width - 1)
    y = (0.5 if center_y is None else center_y) * (height - 1)
    a = K.cos(turn - y_slope) / K.cos(y_slope)
    b = a * K.tan(x_slope) + K.sin(turn)
    c = -K.sin(turn - y_slope) / K.cos(y_slope)
    d = K.cos(turn) - c * K.tan(x_slope)
    rows = [[d * scale, -b * scale], [-c * scale, a * scale]]
    ways = x - translate_x * (width - 1), y - translate_y * (height - 1)
    corners = parts(K.cast(K.convert_to_tensor(boxes), a.dtype))
    xs = K.concatenate([corners[i] for i in (0, 2, 2, 0)], axis=-1)
    ys = K.concatenate([corners[i] for i in (1, 1, 3, 3)], axis=-1)

    def moved(row, center):
        p, q = row
        rest = center - p * ways[0] - q * ways[1]
        p, q, rest = (K.reshape(number, (-1, 1, 1)) for number in (p, q, rest))
        return xs * p + ys * q + rest
    xs, ys = moved(rows[0], x), moved(rows[1], y)
    return K.stack([K.min(xs, axis=-1), K.min(ys, axis=-1), K.max(xs, axis=-1), K.max(ys, axis=-1)], axis=-1)
