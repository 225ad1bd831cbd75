"""The loss of overlaps, distances and forms."""
import math

from dragon.vm import torch
from dragon.vm.torchvision.ops._utils import _upcast_non_float, reduced
from dragon.vm.torchvision.ops.diou_loss import _diou_iou_loss


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """Return 1 less the overlap of pairs of boxes, plus the distance of their centres and that of their forms."""
    boxes1, boxes2 = _upcast_non_float(boxes1), _upcast_non_float(boxes2)
    loss, overlap = _diou_iou_loss(boxes1, boxes2)
    size1, size2 = boxes1[..., 2:] - boxes1[..., :2], boxes2[..., 2:] - boxes2[..., :2]
    v = (4 / math.pi ** 2) * (torch.atan(size2[..., 0] / size2[..., 1])
                              - torch.atan(size1[..., 0] / size1[..., 1])) ** 2
    with torch.no_grad():
        alpha = v / (1 - overlap + v + eps)
    return reduced(loss + alpha * v, reduction)
