"""Boxes as what they are apart from anchors."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.layers.preprocessing.image_preprocessing.bounding_boxes import convert_format

ENCODINGS = ("center_xywh", "center_yxhw")


def _settings(encoding, variance, image_shape):
    """Return variance, height and width, or raise for what is wrong."""
    if encoding not in ENCODINGS:
        raise ValueError(f"The encoding format should be one of {ENCODINGS}. Received: {encoding}")
    if variance is not None:
        variance = K.convert_to_tensor(variance, "float32")
        if variance.shape[-1] != 4:
            raise ValueError(f"`variance` must be length 4. Received: variance={variance}")
    height, width = (None, None) if image_shape is None else image_shape[:2]
    return variance, height, width


def encode_box_to_deltas(anchors, boxes, anchor_format, box_format, encoding_format="center_yxhw", variance=None,
                         image_shape=None):
    """Return how far boxes are from anchors, in sizes of these, and the logarithms of what the sizes differ by.

    Parameters
    ----------
    anchors, boxes : Tensor
        Four numbers each.
    anchor_format, box_format : str
        Their formats.
    encoding_format : {"center_yxhw", "center_xywh"}, optional
        The order of the result.
    variance : Optional[Sequence[float]], optional
        Four numbers that divide it.

    """
    variance, height, width = _settings(encoding_format, variance, image_shape)
    anchors = convert_format(anchors, anchor_format, encoding_format, height, width)
    boxes = convert_format(boxes, box_format, encoding_format, height, width)
    sizes, theirs = K.maximum(anchors[..., 2:], epsilon()), K.maximum(boxes[..., 2:], epsilon())
    made = K.concatenate([(boxes[..., :2] - anchors[..., :2]) / sizes, K.log(theirs / sizes)], axis=-1)
    return made if variance is None else made / variance


def decode_deltas_to_boxes(anchors, boxes_delta, anchor_format, box_format, encoded_format="center_yxhw",
                           variance=None, image_shape=None):
    """Return the boxes that `encode_box_to_deltas` has made deltas of.

    Parameters
    ----------
    anchors, boxes_delta : Union[Tensor, dict]
        Four numbers each; both may be dictionaries.
    anchor_format, box_format : str
        The formats of anchors and of the result.
    encoded_format, variance, image_shape
        See `encode_box_to_deltas`.

    """
    variance, height, width = _settings(encoded_format, variance, image_shape)

    def decode(anchor, delta):
        anchor = convert_format(anchor, anchor_format, encoded_format, height, width)
        delta = delta if variance is None else delta * variance
        box = K.concatenate([delta[..., :2] * anchor[..., 2:] + anchor[..., :2],
                             K.exp(delta[..., 2:]) * anchor[..., 2:]], axis=-1)
        return convert_format(box, encoded_format, box_format, height, width)
    if isinstance(anchors, dict) and isinstance(boxes_delta, dict):
        return {level: decode(anchor, boxes_delta[level]) for level, anchor in anchors.items()}
    return decode(anchors, boxes_delta)
