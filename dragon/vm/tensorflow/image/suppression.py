"""The choice among many boxes: the best ones that overlap no better one too much."""
import collections

from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

CombinedNonMaxSuppression = collections.namedtuple(
    "CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections")


def _checked(boxes, scores, limit):
    """Return boxes (1, N, 4), scores (1, N) and how many can be kept, or raise TensorFlow's errors."""
    boxes, scores, limit = convert_to_tensor(boxes), convert_to_tensor(scores), int(limit)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid_argument(f"boxes must be 2-D with 4 columns. Received shape {tuple(boxes.shape)}")
    if tuple(scores.shape) != tuple(boxes.shape[:1]):
        raise invalid_argument(f"scores has incompatible shape. Received {tuple(scores.shape)} for boxes "
                               f"{tuple(boxes.shape)}")
    _check_limit(limit)
    return ops.unsqueeze(boxes, 0), ops.unsqueeze(scores, 0), min(limit, boxes.shape[0])


def _check_limit(limit):
    if limit < 0:
        raise invalid_argument(f"max_output_size must be non-negative. Received: {limit}")


def _best(boxes, scores, limit, overlap, least, sigma=0.0):
    """Return (numbers, scores, counts) of the best boxes (S, N, 4) of each row of scores (R, N)."""
    scores = ops.cast(scores, boxes.dtype) if scores.dtype is not boxes.dtype else scores
    return ops.select_boxes(boxes, scores, limit, overlap, float(least), sigma)


def _check_threshold(value):
    if not 0 <= value <= 1:
        raise invalid_argument(f"iou_threshold must be in [0, 1]. Received: {value}")
    return float(value)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """Return the numbers of the best boxes that do not overlap better ones too much.

    Parameters
    ----------
    boxes : Tensor
        Rows of y1, x1, y2, x2.
    scores : Tensor
        How good each is.
    max_output_size : int
        How many are kept at most.
    iou_threshold : float, optional, default=0.5
        Which part two boxes may share.
    score_threshold : float, optional
        How good boxes must be.

    Returns
    -------
    Tensor
        Numbers, the best first.

    """
    boxes, scores, limit = _checked(boxes, scores, max_output_size)
    kept, _, counts = _best(boxes, scores, limit, _check_threshold(iou_threshold), score_threshold)
    return ops.narrow(kept[0], 0, 0, int(counts[0]))


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5,
                                    score_threshold=float("-inf"), soft_nms_sigma=0.0, name=None):
    """Return the numbers and scores of the best boxes; with `soft_nms_sigma`, overlapping ones only lose score."""
    boxes, scores, limit = _checked(boxes, scores, max_output_size)
    kept, values, counts = _best(boxes, scores, limit, _check_threshold(iou_threshold), score_threshold,
                                 max(float(soft_nms_sigma), 0.0))
    count = int(counts[0])
    return ops.narrow(kept[0], 0, 0, count), ops.cast(ops.narrow(values[0], 0, 0, count), "float32")


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5,
                                 score_threshold=float("-inf"), name=None):
    """Return the numbers of the best boxes, of which it is told how much they overlap."""
    import numpy as np
    overlaps, scores, limit = convert_to_tensor(overlaps).numpy(), convert_to_tensor(scores).numpy(), max_output_size
    if overlaps.ndim != 2 or overlaps.shape != scores.shape * 2:
        raise invalid_argument(f"overlaps must be square, with a row for each score. Received shapes {overlaps.shape} "
                               f"and {scores.shape}")
    _check_limit(int(limit))
    waiting, kept = np.argsort(-scores, kind="stable"), []
    waiting = waiting[scores[waiting] > score_threshold]
    while waiting.size and len(kept) < int(limit):
        kept.append(int(waiting[0]))
        waiting = waiting[1:]
        waiting = waiting[~(overlaps[waiting, kept[-1]] > float(overlap_threshold))]
    return convert_to_tensor(kept, "int32")


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False,
                               canonicalized_coordinates=False, tile_size=512):
    """Return the numbers of the best boxes, filled up with zeros if asked, and how many there are.

    Batches of boxes are taken too; hints of how to compute (`sorted_input`, `canonicalized_coordinates`,
    `tile_size`) change nothing.
    """
    boxes, scores = convert_to_tensor(boxes), convert_to_tensor(scores)
    single, limit = boxes.ndim == 2, int(max_output_size)
    if not single and not pad_to_max_output_size:
        raise ValueError("'pad_to_max_output_size' must be True for batches of boxes. Received: "
                         f"pad_to_max_output_size={pad_to_max_output_size}, boxes of shape {boxes.shape}")
    if boxes.ndim < 2 or boxes.shape[-1] != 4 or tuple(scores.shape) != tuple(boxes.shape[:-1]):
        raise invalid_argument(f"scores has incompatible shape. Received {tuple(scores.shape)} for boxes "
                               f"{tuple(boxes.shape)}")
    _check_limit(limit)
    front, most = tuple(boxes.shape[:-2]), min(limit, boxes.shape[-2])
    kept, _, counts = _best(ops.reshape(boxes, (-1, boxes.shape[-2], 4)), ops.reshape(scores, (-1, boxes.shape[-2])),
                            most, _check_threshold(iou_threshold), score_threshold)
    if not pad_to_max_output_size:
        return ops.narrow(kept[0], 0, 0, int(counts[0])), ops.reshape(counts, ())
    return ops.reshape(ops.pad(kept, [0, limit - most]), (*front, limit)), ops.reshape(counts, front)


def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    """Return the best boxes of all classes: boxes, scores, classes, and how many are no filling.

    Parameters
    ----------
    boxes : Tensor
        (batch, boxes, classes or 1, 4).
    scores : Tensor
        (batch, boxes, classes).
    max_output_size_per_class, max_total_size : int
        How many are kept of a class, and in all.
    iou_threshold : float, optional, default=0.5
        Which part two boxes of a class may share.
    score_threshold : float, optional
        How good boxes must be.
    pad_per_class : bool, optional, default=False
        Whether there are at most so many results as all classes together may have.
    clip_boxes : bool, optional, default=True
        Whether boxes are cut to 0 and 1.

    Returns
    -------
    Tuple[Tensor, Tensor, Tensor, Tensor]
        Named nmsed_boxes, nmsed_scores, nmsed_classes and valid_detections.

    """
    boxes, scores = convert_to_tensor(boxes), convert_to_tensor(scores)
    batch, number, classes = scores.shape
    total, each, threshold = int(max_total_size), int(max_output_size_per_class), _check_threshold(iou_threshold)
    total = min(total, each * classes) if pad_per_class else total
    each = min(each, number)
    own = ops.reshape(ops.transpose(boxes, 1, 2), (-1, number, 4))
    by_class = ops.reshape(ops.transpose(scores, 1, 2), (-1, number))
    kept, values, counts = (ops.reshape(part, (batch, classes, -1)) for part in
                            _best(own, by_class, each, threshold, score_threshold))
    # The best of all classes: what was not found comes last.
    found = ops.lt(ops.arange(0, each, dtype="int32"), counts)
    worth = ops.reshape(ops.where(found, ops.cast(values, "float32"), float("-inf")), (batch, -1))
    order = ops.narrow(ops.argsort(worth, 1, True, True), 1, 0, min(total, classes * each))
    valid = ops.clamp(ops.cast(ops.sum(counts, [1, 2]), "int32"), None, total)
    label = ops.floor_divide(order, max(each, 1))
    which = ops.gather(ops.reshape(ops.cast(kept, "int64"), (batch, -1)), 1, order)
    row = ops.unsqueeze(ops.arange(0, batch, dtype="int64"), 1)
    place = label if boxes.shape[2] > 1 else ops.zeros_like(label)
    chosen = ops.index(boxes, [row, which, place])
    chosen = ops.clamp(chosen, 0.0, 1.0) if clip_boxes else chosen
    parts = (ops.cast(chosen, "float32"), ops.gather(worth, 1, order), ops.cast(label, "float32"))
    real = ops.lt(ops.arange(0, order.shape[1], dtype="int32"), ops.unsqueeze(valid, 1))
    missing = total - order.shape[1]
    filled = [ops.where(ops.unsqueeze(real, 2) if part.ndim == 3 else real, part, 0.0) for part in parts]
    filled = [ops.pad(part, [0, 0, 0, missing] if part.ndim == 3 else [0, missing]) for part in filled]
    return CombinedNonMaxSuppression(*filled, valid)
