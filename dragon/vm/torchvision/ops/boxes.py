"""Boxes: suppression, overlaps, notations."""
import math

from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torchvision.ops import _box_convert
from dragon.vm.torchvision.ops._box_convert import *  # noqa: F401,F403
from dragon.vm.torchvision.ops._turned import box_iou_rotated
from dragon.vm.torchvision.ops._utils import _upcast

STRAIGHT = ("xyxy", "xywh", "cxcywh")
TURNED = ("xywhr", "cxcywhr", "xyxyxyxy")
_BLOCK = 512  # boxes that `nms` compares with each other at once


@refusing
def nms(boxes, scores, iou_threshold):
    """Return the indices of boxes that no better box overlaps by more than a threshold, the best first.

    Parameters
    ----------
    boxes : Tensor
        Corners (x1, y1, x2, y2), of shape (N, 4).
    scores : Tensor
        One for each box.
    iou_threshold : float
        The overlap from which the worse box goes.

    Returns
    -------
    Tensor
        Indices, by falling scores.

    """
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.ndim != 1 or len(scores) != len(boxes):
        raise RuntimeError(f"nms: got boxes {tuple(boxes.shape)} and scores {tuple(scores.shape)}, "
                           "expected (N, 4) and (N,)")
    boxes, order = _upcast(boxes.detach()), torch.sort(scores.detach(), dim=0, descending=True, stable=True)[1]
    kept = order[:0]
    for block in order.split(_BLOCK):
        free = ~_overlapping(boxes[kept], boxes[block], iou_threshold).any(0)
        block = block[free]
        kept = torch.cat((kept, block[_best_of(_overlapping(boxes[block], boxes[block], iou_threshold))]))
    return kept


def _overlapping(boxes, others, threshold):
    """Return which of some boxes overlap which others by more than a threshold."""
    (x1, y1, x2, y2), (left, top, right, bottom) = boxes[:, :, None].unbind(1), others.unbind(1)
    width = (torch.minimum(x2, right) - torch.maximum(x1, left)).clamp(min=0)
    common = width * (torch.minimum(y2, bottom) - torch.maximum(y1, top)).clamp(min=0)
    return common / ((x2 - x1) * (y2 - y1) + (right - left) * (bottom - top) - common) > threshold


def _best_of(overlapping):
    """Return which of some boxes, the best first, no better one that stays overlaps.

    All are judged at once by who stayed the time before, until nothing changes. Each time the boxes are right that hang
    on one more box than those before did, and such chains are short.
    """
    worse = overlapping.triu(diagonal=1).to(torch.float32)
    before, stays = None, worse.new_ones(len(worse))
    while before is None or not torch.equal(before, stays):
        before, stays = stays, (torch.matmul(stays, worse) == 0).to(torch.float32)
    return stays.to(torch.bool)


def batched_nms(boxes, scores, idxs, iou_threshold):
    """Return what `nms` keeps within each category."""
    if boxes.numel() > 4000:
        return _batched_nms_vanilla(boxes, scores, idxs, iou_threshold)
    return _batched_nms_coordinate_trick(boxes, scores, idxs, iou_threshold)


def _batched_nms_coordinate_trick(boxes, scores, idxs, iou_threshold):
    if boxes.numel() == 0:
        return torch.empty((0,), dtype=torch.int64, device=boxes.device)
    # Categories far apart do not overlap.
    offsets = idxs.to(boxes) * (boxes.max() + 1)
    return nms(boxes + offsets[:, None], scores, iou_threshold)


def _batched_nms_vanilla(boxes, scores, idxs, iou_threshold):
    found = []
    for category in torch.unique(idxs):
        members = torch.where(idxs == category)[0]
        found.append(members[nms(boxes[members], scores[members], iou_threshold)])
    keep = torch.sort(torch.cat(found))[0]
    return keep[scores[keep].sort(descending=True)[1]]


def remove_small_boxes(boxes, min_size):
    """Return the indices of boxes whose sides are no shorter than `min_size`."""
    sides = boxes[..., 2:] - boxes[..., :2]
    return torch.where((sides[..., 0] >= min_size) & (sides[..., 1] >= min_size))[0]


def clip_boxes_to_image(boxes, size):
    """Return boxes cut to an image of a size (height, width)."""
    height, width = size
    x, y = boxes[..., 0::2].clamp(min=0, max=width), boxes[..., 1::2].clamp(min=0, max=height)
    return torch.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def box_convert(boxes, in_fmt, out_fmt):
    """Return boxes in another notation."""
    known = STRAIGHT + TURNED
    if in_fmt not in known or out_fmt not in known:
        raise ValueError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.clone()
    if (in_fmt in STRAIGHT) != (out_fmt in STRAIGHT):
        raise NotImplementedError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and "
                                  f"out_fmt {out_fmt}")
    centre = "xyxy" if in_fmt in STRAIGHT else "xywhr"
    for start, end in ((in_fmt, centre), (centre, out_fmt)):
        if start != end:
            boxes = getattr(_box_convert, f"_box_{start}_to_{end}")(boxes)
    return boxes


def box_area(boxes, fmt="xyxy"):
    """Return the areas of boxes."""
    if fmt not in STRAIGHT:
        raise ValueError(f"Unsupported Bounding Box area for given format {fmt}")
    boxes = _upcast(boxes)
    if fmt == "xyxy":
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return boxes[..., 2] * boxes[..., 3]


def _corners(boxes, fmt):
    start, end = boxes[..., :2], boxes[..., 2:]
    if fmt == "xyxy":
        return start, end
    return (start, start + end) if fmt == "xywh" else (start - end / 2, start + end / 2)


def _box_inter_union(boxes1, boxes2, fmt="xyxy"):
    area1, area2 = box_area(boxes1, fmt=fmt), box_area(boxes2, fmt=fmt)
    (start1, end1), (start2, end2) = _corners(boxes1, fmt), _corners(boxes2, fmt)
    size = _upcast(torch.min(end1[..., None, :], end2[..., None, :, :])
                   - torch.max(start1[..., None, :], start2[..., None, :, :])).clamp(min=0)
    common = size[..., 0] * size[..., 1]
    return common, area1[..., None] + area2[..., None, :] - common


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """Return the common area over the joint area, of every pair."""
    if fmt in STRAIGHT:
        common, joint = _box_inter_union(boxes1, boxes2, fmt=fmt)
        return common / joint
    if fmt in TURNED:
        return box_iou_rotated(*(boxes if fmt == "cxcywhr" else box_convert(boxes, fmt, "cxcywhr")
                                 for boxes in (boxes1, boxes2)))
    raise ValueError(f"Unsupported format '{fmt}'. Supported axis-aligned formats: {STRAIGHT}. "
                     f"Supported rotated formats: {TURNED}.")


def _hull(boxes1, boxes2):
    size = (torch.max(boxes1[..., None, 2:], boxes2[..., None, :, 2:])
            - torch.min(boxes1[..., None, :2], boxes2[..., None, :, :2]))
    return _upcast(size).clamp(min=0)


def generalized_box_iou(boxes1, boxes2):
    """Return the generalized overlap of every pair."""
    common, joint = _box_inter_union(boxes1, boxes2)
    hull = _hull(boxes1, boxes2)
    area = hull[..., 0] * hull[..., 1]
    return common / joint - (area - joint) / area


def _box_diou_iou(boxes1, boxes2, eps=1e-7):
    overlap, hull = box_iou(boxes1, boxes2), _hull(boxes1, boxes2)
    diagonal = hull[..., 0] ** 2 + hull[..., 1] ** 2 + eps
    centre1, centre2 = (boxes1[..., :2] + boxes1[..., 2:]) / 2, (boxes2[..., :2] + boxes2[..., 2:]) / 2
    apart = _upcast(centre1[..., None, :] - centre2[..., None, :, :]) ** 2
    return overlap - (apart[..., 0] + apart[..., 1]) / diagonal, overlap


def distance_box_iou(boxes1, boxes2, eps=1e-7):
    """Return the overlap of every pair, less the distance of their centres."""
    return _box_diou_iou(_upcast(boxes1), _upcast(boxes2), eps)[0]


def complete_box_iou(boxes1, boxes2, eps=1e-7):
    """Return the overlap of every pair, less the distance of their centres and the difference of their forms."""
    boxes1, boxes2 = _upcast(boxes1), _upcast(boxes2)
    distance, overlap = _box_diou_iou(boxes1, boxes2, eps)
    size1, size2 = boxes1[..., 2:] - boxes1[..., :2], boxes2[..., 2:] - boxes2[..., :2]
    form1, form2 = torch.atan(size1[..., 0] / size1[..., 1]), torch.atan(size2[..., 0] / size2[..., 1])
    v = (4 / math.pi ** 2) * (form1[..., None] - form2[..., None, :]) ** 2
    with torch.no_grad():
        alpha = v / (1 - overlap + v + eps)
    return distance - alpha * v


def masks_to_boxes(masks):
    """Return the boxes around masks (N, H, W)."""
    if masks.numel() == 0:
        return torch.zeros((0, 4), device=masks.device, dtype=torch.float)
    _, h, w = masks.shape
    rows, columns = (masks != 0).any(dim=2), (masks != 0).any(dim=1)
    rows_f, columns_f = rows.float(), columns.float()
    boxes = torch.stack([columns_f.argmax(dim=1), rows_f.argmax(dim=1), (w - 1) - columns_f.flip([1]).argmax(dim=1),
                         (h - 1) - rows_f.flip([1]).argmax(dim=1)], dim=1).float()
    return boxes.masked_fill(~rows.any(dim=1)[:, None], 0)
