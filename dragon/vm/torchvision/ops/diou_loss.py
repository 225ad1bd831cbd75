"""The loss of overlaps and distances."""
from dragon.vm.torchvision.ops._utils import _loss_inter_union, _upcast_non_float, enclosing, reduced


def _diou_iou_loss(boxes1, boxes2, eps=1e-7):
    common, joint = _loss_inter_union(boxes1, boxes2)
    overlap = common / (joint + eps)
    left, top, right, bottom = enclosing(boxes1, boxes2)
    diagonal = (right - left) ** 2 + (bottom - top) ** 2 + eps
    apart = (((boxes1[..., :2] + boxes1[..., 2:]) - (boxes2[..., :2] + boxes2[..., 2:])) / 2) ** 2
    return 1 - overlap + (apart[..., 0] + apart[..., 1]) / diagonal, overlap


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """Return 1 less the overlap of pairs of boxes, plus the distance of their centres."""
    return reduced(_diou_iou_loss(_upcast_non_float(boxes1), _upcast_non_float(boxes2), eps)[0], reduction)
