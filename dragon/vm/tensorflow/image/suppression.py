"""The choice among many boxes: the best ones that overlap no better one too much."""
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def _overlaps(boxes):
    """Return a function of a box's number and others': by how much of both together they overlap."""
    import numpy as np
    sides = boxes.T
    top, left = np.minimum(sides[0], sides[2]), np.minimum(sides[1], sides[3])
    bottom, right = np.maximum(sides[0], sides[2]), np.maximum(sides[1], sides[3])
    areas = (bottom - top) * (right - left)

    def overlap_of(number, others):
        height = np.minimum(bottom[others], bottom[number]) - np.maximum(top[others], top[number])
        width = np.minimum(right[others], right[number]) - np.maximum(left[others], left[number])
        shared = np.maximum(height, 0) * np.maximum(width, 0)
        whole = areas[others] + areas[number] - shared
        return shared / np.where(whole > 0, whole, 1)
    return overlap_of


def _select(scores, limit, overlap_of, threshold, least):
    """Return (numbers, scores) of the boxes that are kept: the best ones that overlap no better one too much."""
    import numpy as np
    if limit < 0:
        raise invalid_argument(f"max_output_size must be non-negative. Received: {limit}")
    waiting, kept = np.argsort(-scores, kind="stable"), []
    waiting = waiting[scores[waiting] > least]
    while waiting.size and len(kept) < limit:
        kept.append(int(waiting[0]))
        waiting = waiting[1:]
        waiting = waiting[~(overlap_of(kept[-1], waiting) > threshold)]
    return kept, [float(scores[number]) for number in kept]


def _select_softly(scores, limit, overlap_of, least, sigma):
    """Return (numbers, scores) of the boxes that are kept, where overlaps with better ones cost a part of the score."""
    import heapq

    import numpy as np
    waiting = [(-float(score), number, 0) for number, score in enumerate(scores) if score > least]
    heapq.heapify(waiting)
    kept, values = [], []
    while waiting and len(kept) < limit:
        negative, number, seen = heapq.heappop(waiting)
        score = -negative
        if len(kept) > seen:
            score *= float(np.prod(np.exp(-0.5 * overlap_of(number, np.array(kept[seen:])) ** 2 / sigma)))
        if score == -negative:
            kept.append(number)
            values.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, number, len(kept)))
    return kept, values


def _arrays(boxes, scores):
    import numpy as np
    boxes, scores = np.asarray(convert_to_tensor(boxes).numpy()), np.asarray(convert_to_tensor(scores).numpy())
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid_argument(f"boxes must be 2-D with 4 columns. Received shape {boxes.shape}")
    if scores.shape != boxes.shape[:1]:
        raise invalid_argument(f"scores has incompatible shape. Received {scores.shape} for boxes {boxes.shape}")
    return boxes, scores


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
    boxes, scores = _arrays(boxes, scores)
    kept, _ = _select(scores, int(max_output_size), _overlaps(boxes), _check_threshold(iou_threshold), score_threshold)
    return convert_to_tensor(kept, "int32")


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5,
                                    score_threshold=float("-inf"), soft_nms_sigma=0.0, name=None):
    """Return the numbers and scores of the best boxes; with `soft_nms_sigma`, overlapping ones only lose score."""
    boxes, scores = _arrays(boxes, scores)
    threshold, sigma = _check_threshold(iou_threshold), float(soft_nms_sigma)
    overlap_of = _overlaps(boxes)
    if sigma > 0:
        kept, values = _select_softly(scores, int(max_output_size), overlap_of, score_threshold, sigma)
    else:
        kept, values = _select(scores, int(max_output_size), overlap_of, threshold, score_threshold)
    return convert_to_tensor(kept, "int32"), convert_to_tensor(values, "float32")


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5,
                                 score_threshold=float("-inf"), name=None):
    """Return the numbers of the best boxes, of which it is told how much they overlap."""
    overlaps, scores = convert_to_tensor(overlaps).numpy(), convert_to_tensor(scores).numpy()
    if overlaps.ndim != 2 or overlaps.shape != scores.shape * 2:
        raise invalid_argument(f"overlaps must be square, with a row for each score. Received shapes {overlaps.shape} "
                               f"and {scores.shape}")
    kept, _ = _select(scores, int(max_output_size), lambda number, others: overlaps[others, number],
                      float(overlap_threshold), score_threshold)
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
    front = tuple(boxes.shape[:-2])
    rows = zip(ops.unbind(ops.reshape(boxes, (-1, *boxes.shape[-2:]))),
               ops.unbind(ops.reshape(scores, (-1, boxes.shape[-2]))))
    found = [non_max_suppression(*row, limit, iou_threshold, score_threshold) for row in rows]
    counts = ops.reshape(convert_to_tensor([kept.shape[0] for kept in found], "int32"), front)
    if not pad_to_max_output_size:
        return found[0], counts
    filled = [ops.pad(kept, [0, limit - kept.shape[0]]) for kept in found]
    return ops.reshape(ops.stack(filled), (*front, limit)), counts


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
    import collections

    import numpy as np
    boxes, scores = convert_to_tensor(boxes).numpy(), convert_to_tensor(scores).numpy()
    batch, _, classes = scores.shape
    total, each, threshold = int(max_total_size), int(max_output_size_per_class), _check_threshold(iou_threshold)
    total = min(total, each * classes) if pad_per_class else total
    found, values = np.zeros((batch, total, 4), np.float32), np.zeros((batch, total), np.float32)
    labels, counts = np.zeros((batch, total), np.float32), np.zeros(batch, np.int32)
    for row in range(batch):
        best = []
        for label in range(classes):
            own = boxes[row, :, label if boxes.shape[2] > 1 else 0]
            kept, kept_scores = _select(scores[row, :, label], each, _overlaps(own), threshold, score_threshold)
            best += [(-score, label, own[number]) for number, score in zip(kept, kept_scores)]
        best = sorted(best, key=lambda item: item[0])[:total]
        counts[row] = len(best)
        for place, (negative, label, box) in enumerate(best):
            found[row, place], values[row, place], labels[row, place] = box, -negative, label
    found = np.clip(found, 0, 1) if clip_boxes else found
    kind = collections.namedtuple("CombinedNonMaxSuppression",
                                  "nmsed_boxes nmsed_scores nmsed_classes valid_detections")
    return kind(*map(convert_to_tensor, (found, values, labels, counts)))
