"""Boxes in images: their formats, and what becomes of them at an image's borders."""

import math

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.shared.letters import expect

FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh",
           "rel_center_xywh")


def parts(boxes):
    """Return the four numbers of boxes, each with its last axis."""
    return K.split(boxes, 4, axis=-1)


def joined(*numbers):
    """Return four numbers as boxes."""
    return K.concatenate(list(numbers), axis=-1)


def _to_corners(boxes, form):
    """Return boxes of an absolute format as x and y of two corners."""
    a, b, c, d = parts(boxes)
    if form == "xyxy":
        return boxes
    if form == "yxyx":
        return joined(b, a, d, c)
    if form == "xywh":
        return joined(a, b, a + c, b + d)
    if form == "center_yxhw":
        a, b, c, d = b, a, d, c
    return joined(a - c / 2.0, b - d / 2.0, a + c / 2.0, b + d / 2.0)


def _from_corners(boxes, form):
    """Return boxes in an absolute format."""
    a, b, c, d = parts(boxes)
    if form == "xyxy":
        return boxes
    if form == "yxyx":
        return joined(b, a, d, c)
    width, height = c - a, d - b
    if form == "xywh":
        return joined(a, b, width, height)
    x, y = a + width / 2.0, b + height / 2.0
    return joined(y, x, height, width) if form == "center_yxhw" else joined(x, y, width, height)


def convert_format(boxes, source, target, height=None, width=None, dtype="float32"):
    """Return boxes in another format.

    Parameters
    ----------
    boxes : Union[Tensor, dict]
        Four numbers each, or a dictionary with such "boxes", which is changed.
    source, target : str
        The formats: "xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", some of them after "rel_".
    height, width : Optional[Union[int, Tensor]], optional
        Of the images; needed between relative and absolute formats.

    """
    if isinstance(boxes, dict):
        boxes["boxes"] = convert_format(boxes["boxes"], source, target, height, width, dtype)
        return boxes
    boxes = convert_to_tensor(boxes, dtype=dtype)
    if boxes.shape[-1] != 4:
        raise ValueError("`boxes` must be a tensor with the last dimension of 4. "
                         f"Received: boxes.shape={tuple(boxes.shape)}")
    source = expect(source, str, "convert_format", "source").lower()
    target = expect(target, str, "convert_format", "target").lower()
    if source not in FORMATS or target not in FORMATS:
        raise ValueError(f"Invalid source or target format. Supported formats: {FORMATS}. "
                         f"Received: source={source}, target={target}")
    before, after = source.startswith("rel_"), target.startswith("rel_")
    if (before or after) and (width is None or height is None):
        raise ValueError("convert_format() must receive `height` and `width` transforming between relative and "
                         f"absolute formats. Received: source={source}, target={target}, height={height}, "
                         f"width={width}")
    if source == target:
        return boxes
    boxes = _to_corners(boxes, source.removeprefix("rel_"))
    if before != after:
        a, b, c, d = parts(boxes)
        width, height = (convert_to_tensor(x, dtype=dtype) for x in (width, height))
        boxes = (joined(a * width, b * height, c * width, d * height) if before else
                 joined(a / width, b / height, c / width, d / height))
    return _from_corners(boxes, target.removeprefix("rel_"))


def clip_to_image_size(bounding_boxes, height=None, width=None, bounding_box_format="xyxy"):
    """Return boxes cut at the borders of their images; labels of boxes with nothing left become -1.

    Parameters
    ----------
    bounding_boxes : dict
        With "boxes", and "labels" perhaps.
    height, width : Optional[int], optional
        Of the images.
    bounding_box_format : {"xyxy", "rel_xyxy"}, optional
        The format.

    """
    if bounding_box_format not in ("xyxy", "rel_xyxy"):
        raise NotImplementedError(f"clip_to_image_size: got format {bounding_box_format}, expected xyxy or rel_xyxy")
    if bounding_box_format == "rel_xyxy":
        height = width = 1.0
    elif height is None or width is None:
        raise ValueError("`height` and `width` must be set if `format='xyxy'`. "
                         f"Received: height={height}, width={width}")
    a, b, c, d = parts(bounding_boxes["boxes"])
    height, width = (convert_to_tensor(x, dtype=a.dtype) for x in (height, width))
    a, b, c, d = K.clip(a, 0, width), K.clip(b, 0, height), K.clip(c, 0, width), K.clip(d, 0, height)
    result = {**bounding_boxes, "boxes": joined(a, b, c, d)}
    if result.get("labels") is not None:
        areas = K.squeeze((c - a) * (d - b), axis=-1)
        result["labels"] = K.where(areas > 0, result["labels"], -1)
    return result


def rotate(boxes, angle, height, width):
    """Return the upright boxes around "xyxy" boxes that were turned by degrees about the middle of their images."""
    turn = angle * (math.pi / 180.0)
    cos, sin = (K.reshape(function(turn), (-1, 1, 1)) for function in (K.cos, K.sin))
    x, y = (width - 1) * 0.5, (height - 1) * 0.5
    a, b, c, d = (part[..., 0] for part in parts(boxes))
    xs, ys = K.stack([a, c, c, a], axis=-1) - x, K.stack([b, b, d, d], axis=-1) - y
    xs, ys = xs * cos + ys * sin + x, ys * cos - xs * sin + y
    return K.stack([K.min(xs, axis=-1), K.min(ys, axis=-1), K.max(xs, axis=-1), K.max(ys, axis=-1)], axis=-1)


def densify(bounding_boxes, is_batched=False, max_boxes=None, boxes_default_value=0, labels_default_value=-1):
    """Return boxes and labels as dense tensors: lists and ragged ones filled up.

    Parameters
    ----------
    bounding_boxes : Dict[str, Union[Tensor, RaggedTensor, List]]
        Boxes and labels, of an image or of a batch.
    is_batched : bool, optional, default=False
        Whether ragged boxes are of a batch, which their rank tells as well.
    max_boxes : Optional[int], optional
        How many boxes an image has afterwards; as many as that which has most, if not given.
    boxes_default_value, labels_default_value : float, optional
        What stands where an image has fewer.

    Returns
    -------
    Dict[str, Tensor]
        The same keys.

    """
    if not isinstance(bounding_boxes, dict) or not {"boxes", "labels"} <= set(bounding_boxes):
        raise ValueError("Expected `bounding_boxes` argument to be a dict with keys 'boxes' and 'labels'. "
                         f"Received: bounding_boxes={bounding_boxes}")
    boxes, labels = bounding_boxes["boxes"], bounding_boxes["labels"]
    if hasattr(boxes, "to_tensor"):
        batch = [None] * (is_batched or len(boxes.shape) == 3)
        return {**bounding_boxes,
                "boxes": boxes.to_tensor(default_value=boxes_default_value, shape=[*batch, max_boxes, 4]),
                "labels": _filled_labels(labels, labels_default_value, batch, max_boxes)}
    if isinstance(boxes, list) and boxes and isinstance(boxes[0], list) and boxes[0]:
        batched = isinstance(boxes[0][0], list)
        rows = list(zip(boxes, labels)) if batched else [(boxes, labels)]
        most = max(len(row) for row, _ in rows) if max_boxes is None else max_boxes
        filled = [[list(row[:most]) + [value] * (most - len(row)) for row, value in zip(
            pair, ([boxes_default_value] * 4, labels_default_value))] for pair in rows]
        boxes, labels = ([pair[place] for pair in filled] if batched else filled[0][place] for place in (0, 1))
    boxes, labels = convert_to_tensor(boxes, dtype="float32"), convert_to_tensor(labels)
    if len(boxes.shape) not in (2, 3) or len(labels.shape) not in (len(boxes.shape) - 1, len(boxes.shape)):
        raise ValueError("Expected `bounding_boxes['boxes']` of rank 2 or 3, and `bounding_boxes['labels']` to fit. "
                         f"Received: shapes {tuple(boxes.shape)} and {tuple(labels.shape)}")
    return {**bounding_boxes, "boxes": boxes, "labels": labels}


def _filled_labels(labels, value, batch, most):
    """Return ragged labels as a dense tensor, those of one-hot rows too."""
    rest = [None] * (len(labels.shape) - len(batch) - 1)
    return labels.to_tensor(default_value=value, shape=None if most is None else [*batch, most, *rest])
