"""Boxes beside the genuine functions."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, guest
from harness.subresults import each

DRAW = np.random.default_rng(0)
STARTS = DRAW.random((2, 5, 2)) * 20
BOXES = np.concatenate([STARTS, STARTS + 1 + DRAW.random((2, 5, 2)) * 20], -1).astype("float32")
OTHERS = BOXES[:, ::-1] + 3
FORMATS = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")


def check(run, rtol=1e-5):
    """Hold what a function of a Keras gives against the genuine one's."""
    ours, theirs = (run(keras.utils.bounding_boxes) for keras in (guest("keras"), genuine.keras))
    for one, other in zip(ours, theirs):
        np.testing.assert_allclose(array(one), array(other), rtol=rtol, atol=1e-5)


@each("source", FORMATS)
def test_formats(source):
    """From one format into each other one."""
    check(lambda boxes: [boxes.convert_format(BOXES / 50, source, target, height=30, width=40) for target in FORMATS])


def test_moves():
    """Cut, padded, clipped and turned."""
    angles = [np.array(x, "float32") for x in ([10, -30], [0.1, 0.2], [0.0, -0.1], [1.0, 1.2], [5, 0], [0, 4])]
    check(lambda boxes: [boxes.crop(BOXES, 3, 4, 10, 12), boxes.pad(BOXES, 2, 3),
                         boxes.affine_transform(BOXES, *angles, height=30, width=40),
                         *boxes.clip_to_image_size({"boxes": BOXES, "labels": np.ones((2, 5), "int32")}, 15,
                                                   16).values()], rtol=1e-3)


@pytest.mark.parametrize("form", ["xyxy", "center_xywh", "yxyx"])
def test_overlaps(form):
    """What pairs have in common."""
    masked = BOXES.copy()
    masked[0, 0] = -1
    check(lambda boxes: [boxes.compute_iou(BOXES, OTHERS, form), boxes.compute_iou(BOXES[0], OTHERS[0], form),
                         boxes.compute_iou(masked, OTHERS, form, use_masking=True),
                         boxes.compute_ciou(BOXES, OTHERS, form)], rtol=1e-4)


@pytest.mark.parametrize("encoding", ["center_yxhw", "center_xywh"])
def test_deltas(encoding):
    """There and back."""
    variance = [0.1, 0.1, 0.2, 0.2]

    def run(boxes):
        made = boxes.encode_box_to_deltas(BOXES, OTHERS, "xyxy", "xyxy", encoding, variance=variance)
        return [made, boxes.decode_deltas_to_boxes(BOXES, made, "xyxy", "xywh", encoding, variance=variance)]
    check(run, rtol=1e-4)


def test_refusals():
    """Errors say what was received."""
    boxes = guest("keras").utils.bounding_boxes
    for call, message in ((lambda: boxes.convert_format(BOXES, "xy", "xyxy"), "source=xy"),
                          (lambda: boxes.convert_format(BOXES, "xyxy", "rel_xyxy"), "height=None"),
                          (lambda: boxes.compute_iou(BOXES[0, 0], BOXES, "xyxy"), "(4,)"),
                          (lambda: boxes.encode_box_to_deltas(BOXES, BOXES, "xyxy", "xyxy", "xyxy"), "xyxy")):
        with pytest.raises(ValueError) as caught:
            call()
        assert message in str(caught.value)
