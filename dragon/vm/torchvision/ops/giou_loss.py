"""The loss of generalized overlaps."""
from dragon.vm.torchvision.ops._utils import _loss_inter_union, _upcast_non_float, enclosing, reduced


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """Return 1 less the generalized overlap of pairs of boxes."""
    boxes1, boxes2 = _upcast_non_float(boxes1), _upcast_non_float(boxes2)
    common, joint = _loss_inter_union(boxes1, boxes2)
    left, top, right, bottom = enclosing(boxes1, boxes2)
    area = (right - left) * (bottom - top)
    return reduced(1 - (common / (joint + eps) - (area - joint) / (area + eps)), reduction)
