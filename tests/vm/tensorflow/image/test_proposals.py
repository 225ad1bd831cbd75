"""Proposals of boxes beside a plain loop over them: the genuine operator has kernels on GPUs alone."""
import numpy as np
import pytest

from dragon.vm import tensorflow as tf


def overlap(one, other):
    """Return how much of two boxes together both cover."""
    shared = np.maximum(0, np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])).prod()
    return shared / ((one[2:] - one[:2]).prod() + (other[2:] - other[:2]).prod() - shared)


def propose(scores, deltas, info, anchors, limit, most, least, wanted):
    """Return the boxes and scores of one image, one after another."""
    found = []
    for place in np.argsort(-scores.ravel(), kind="stable")[:most]:
        y1, x1, y2, x2 = anchors.reshape(-1, 4)[place]
        dy, dx, dh, dw = deltas.reshape(-1, 4)[place]
        height, width = y2 - y1, x2 - x1
        y, x = y1 + height / 2 + dy * height, x1 + width / 2 + dx * width
        height, width = (size * np.exp(min(by, np.log(62.5))) for size, by in ((height, dh), (width, dw)))
        box = np.array([min(max(y - height / 2, 0), info[0]), min(max(x - width / 2, 0), info[1]),
                        min(max(y + height / 2, 0), info[0]), min(max(x + width / 2, 0), info[1])])
        if min(box[2] - box[0], box[3] - box[1]) < least * info[2] or len(found) == wanted:
            continue
        if all(overlap(box, other) <= limit for other, _ in found):
            found.append((box, scores.ravel()[place]))
    empty = wanted - len(found)
    return (np.array([box for box, _ in found] + [np.zeros(4)] * empty), [score for _, score in found] + [0] * empty)


@pytest.mark.parametrize("limit, most, least, wanted", [(0.7, 6000, 16, 300), (0.3, 40, 4, 10), (0.5, 1000, 1e9, 3),
                                                        (1.0, 5, 0, 8)])
def test_as_a_loop_over_boxes(limit, most, least, wanted):
    draw = np.random.RandomState(0)
    scores = draw.rand(2, 4, 5, 3).astype(np.float32)
    deltas = (draw.randn(2, 4, 5, 12) * 0.4).astype(np.float32)
    deltas[0, 0, 0] = 9
    first = draw.rand(4, 5, 3, 2) * 80
    anchors = np.concatenate([first, first + 10 + draw.rand(4, 5, 3, 2) * 40], -1).reshape(4, 5, 12).astype(np.float32)
    info = np.array([[100, 120, 1, 0, 0], [90, 70, 1.5, 0, 0]], np.float32)
    boxes, found = tf.image.generate_bounding_box_proposals(scores, deltas, info, anchors, limit, most, least, wanted)
    assert boxes.shape == (2, wanted, 4) and found.shape == (2, wanted)
    for image in range(2):
        expected, sure = propose(scores[image], deltas[image], info[image], anchors, limit, most, least, wanted)
        np.testing.assert_allclose(boxes[image], expected, 1e-4, 1e-3)
        np.testing.assert_allclose(found[image], sure)


@pytest.mark.parametrize("wrong", [dict(nms_threshold=2), dict(pre_nms_topn=0), dict(post_nms_topn=0)])
def test_wrong_arguments(wrong):
    with pytest.raises(tf.errors.InvalidArgumentError, match=next(iter(wrong))):
        tf.image.generate_bounding_box_proposals(tf.ones([1, 1, 1, 1]), tf.ones([1, 1, 1, 4]), tf.ones([1, 5]),
                                                 tf.ones([1, 1, 4]), **wrong)


def test_wrong_sizes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Box dimensions"):
        tf.image.generate_bounding_box_proposals(tf.ones([1, 1, 1, 1]), tf.ones([1, 1, 1, 4]), tf.ones([1, 5]),
                                                 tf.ones([1, 1, 5]))
