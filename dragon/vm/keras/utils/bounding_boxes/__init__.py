"""Boxes in images."""
from dragon.vm.keras.layers.preprocessing.image_preprocessing.bounding_boxes import (  # noqa: F401
    clip_to_image_size, convert_format)
from dragon.vm.keras.utils.bounding_boxes.deltas import decode_deltas_to_boxes, encode_box_to_deltas  # noqa: F401
from dragon.vm.keras.utils.bounding_boxes.moves import affine_transform, crop, pad  # noqa: F401
from dragon.vm.keras.utils.bounding_boxes.overlap import compute_ciou, compute_iou  # noqa: F401
