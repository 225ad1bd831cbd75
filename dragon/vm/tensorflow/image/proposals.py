"""Proposals of where things are in an image: anchors, moved and stretched as a network says, the best of them."""
import math

from dragon.vm.shared.arrays.joining import stack
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.tensorflow.image.suppression import non_max_suppression

MOST_STRETCHED = math.log(1000 / 16)  # the largest logarithm of how much an anchor grows


def generate_bounding_box_proposals(scores, bbox_deltas, image_info, anchors, nms_threshold=0.7, pre_nms_topn=6000,
                                    min_size=16, post_nms_topn=300, name=None):
    """Return the best boxes among those that a network makes of anchors, and their scores.

    Parameters
    ----------
    scores : Tensor
        (images, height, width, anchors): how sure the network is.
    bbox_deltas : Tensor
        (images, height, width, 4 * anchors): by how much centers move, y before x, in parts of the anchors' sizes; and
        the logarithms of how much the anchors grow.
    image_info : Tensor
        (images, 5): the heights, the widths, and by how much the smallest size is to be multiplied.
    anchors : Tensor
        (height, width, 4 * anchors): y1, x1, y2, x2.
    nms_threshold : float, optional, default=0.7
        How much a box may overlap a better one.
    pre_nms_topn : int, optional, default=6000
        How many of the best boxes are looked at.
    min_size : float, optional, default=16
        How long the sides of a box are at least.
    post_nms_topn : int, optional, default=300
        How many boxes are returned; zeros stand where there are fewer.

    Returns
    -------
    Tuple[Tensor, Tensor]
        The boxes (images, post_nms_topn, 4) as y1, x1, y2, x2, and their scores (images, post_nms_topn).

    """
    scores, deltas, info, anchors = (convert_to_tensor(one, "float32") for one in
                                     (scores, bbox_deltas, image_info, anchors))
    limit, most, least = float(nms_threshold), int(pre_nms_topn), float(min_size)
    if scores.ndim != 4 or tuple(anchors.shape) != (*tuple(scores.shape)[1:3], 4 * scores.shape[3]):
        raise invalid_argument(f"Box dimensions need to be 4: got scores of shape {tuple(scores.shape)} and anchors of "
                               f"shape {tuple(anchors.shape)} [Op:GenerateBoundingBoxProposals]")
    if not 0 <= limit <= 1:
        raise invalid_argument(f"nms_threshold should be between 0 and 1. Got {limit} "
                               "[Op:GenerateBoundingBoxProposals]")
    for word, value in (("pre_nms_topn", most), ("post_nms_topn", post_nms_topn)):
        if value <= 0:
            raise invalid_argument(f"{word} should be greater than 0. Got {value} [Op:GenerateBoundingBoxProposals]")
    found = [_of_image(*one, array_of(anchors).reshape(-1, 4), limit, most, least, post_nms_topn) for one in
             zip(array_of(scores), array_of(deltas), array_of(info))]
    return tuple(stack([pair[place] for pair in found]) for place in range(2))


def _of_image(scores, deltas, info, anchors, limit, most, least, wanted):
    """Return the boxes and the scores of one image."""
    import numpy as np
    scores, deltas = scores.reshape(-1), deltas.reshape(-1, 4)
    best = np.argsort(-scores, kind="stable")[:most]
    scores, moves, grown = scores[best], deltas[best, :2], np.exp(np.minimum(deltas[best, 2:], MOST_STRETCHED))
    first, sizes = anchors[best, :2], anchors[best, 2:] - anchors[best, :2]
    centers, halves = first + 0.5 * sizes + sizes * moves, 0.5 * sizes * grown
    corners = [np.clip(corner, 0, info[:2]) for corner in (centers - halves, centers + halves)]
    large = (corners[1] - corners[0]).min(1) >= least * info[2]
    boxes, scores = np.concatenate(corners, 1)[large].astype(np.float32), scores[large]
    kept = non_max_suppression(boxes, scores, wanted, limit).numpy() if len(boxes) else np.zeros(0, np.int32)
    found, sure = np.zeros((wanted, 4), np.float32), np.zeros(wanted, np.float32)
    found[:len(kept)], sure[:len(kept)] = boxes[kept], scores[kept]
    return wrap_array(found), wrap_array(sure)
