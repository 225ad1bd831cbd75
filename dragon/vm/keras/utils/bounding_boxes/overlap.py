"""How much boxes have in common."""

import math

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.layers.preprocessing.image_preprocessing.bounding_boxes import convert_format, parts


def compute_iou(boxes1, boxes2, bounding_box_format, use_masking=False, mask_val=-1, image_shape=None):
    """Return for each pair of boxes what they share, as a part of what they cover together.

    Parameters
    ----------
    boxes1, boxes2 : Tensor
        Of shape `(boxes, 4)` or `(batch, boxes, 4)`.
    bounding_box_format : str
        Their format.
    use_masking : bool, optional, default=False
        Boxes of negative numbers are none.
    mask_val : float, optional, default=-1
        What pairs with such get.

    """
    boxes1, boxes2 = K.convert_to_tensor(boxes1), K.convert_to_tensor(boxes2)
    for boxes in (boxes1, boxes2):
        if len(boxes.shape) not in (2, 3):
            raise ValueError("compute_iou() expects boxes of rank 2 or 3. Received: "
                             f"boxes1.shape={tuple(boxes1.shape)}, boxes2.shape={tuple(boxes2.shape)}")
    if "rel" in bounding_box_format and image_shape is None:
        raise ValueError("When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument must "
                         f"be provided. Received `image_shape`: {image_shape}")
    height, width = (None, None) if image_shape is None else image_shape[:2]
    boxes1, boxes2 = (convert_format(boxes, bounding_box_format, "xyxy", height, width) for boxes in (boxes1, boxes2))
    a, b, c, d = parts(boxes1)
    e, f, g, h = (K.swapaxes(part, -1, -2) for part in parts(boxes2))
    wide, high = (K.maximum(K.minimum(*ends) - K.maximum(*starts), 0) for ends, starts in (((c, g), (a, e)),
                                                                                           ((d, h), (b, f))))
    shared = wide * high
    made = shared / ((c - a) * (d - b) + (g - e) * (h - f) - shared + epsilon())
    if not use_masking:
        return made
    none1 = K.max(boxes1, axis=-1, keepdims=True) < 0.0
    none2 = K.swapaxes(K.max(boxes2, axis=-1, keepdims=True) < 0.0, -1, -2)
    return K.where(K.logical_or(none1, none2), float(mask_val), made)


def compute_ciou(boxes1, boxes2, bounding_box_format, image_shape=None):
    """Return for each pair of boxes what they share, less how far apart and how differently shaped they are.

    Parameters
    ----------
    boxes1, boxes2 : Tensor
        Of the same shape, with four numbers last.
    bounding_box_format : str
        Their format, not a relative one.
    image_shape : Optional[Sequence[int]], optional
        Height, width and channels.

    """
    if "rel" in bounding_box_format:
        raise ValueError("compute_ciou() takes absolute bounding box formats. "
                         f"Received: bounding_box_format={bounding_box_format}, image_shape={image_shape}")
    boxes1, boxes2 = (convert_format(boxes, bounding_box_format, "xyxy") for boxes in (boxes1, boxes2))
    (a, b, c, d), (e, f, g, h) = ([part[..., 0] for part in parts(boxes)] for boxes in (boxes1, boxes2))
    wide, high, width, height = c - a, d - b + epsilon(), g - e, h - f + epsilon()
    shared = K.maximum(K.minimum(c, g) - K.maximum(a, e), 0) * K.maximum(K.minimum(d, h) - K.maximum(b, f), 0)
    iou = shared / (wide * high + width * height - shared + 2 * epsilon())
    across, down = K.maximum(c, g) - K.minimum(a, e), K.maximum(d, h) - K.minimum(b, f)
    apart = K.square((a + c - e - g) / 2) + K.square((b + d - f - h) / 2)
    shape = 4 / math.pi ** 2 * K.square(K.arctan(width / height) - K.arctan(wide / high))
    weight = shape / (shape - iou + (1 + epsilon()))
    return iou - (apart / (across ** 2 + down ** 2 + epsilon()) + shape * weight)
