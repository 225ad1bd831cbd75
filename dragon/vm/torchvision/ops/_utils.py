"""Helpers of several operators of detection."""
from dragon.vm import torch


def convert_boxes_to_roi_format(boxes):
    """Return boxes of several images as one tensor of rows (image, x1, y1, x2, y2)."""
    rows = [torch.cat([torch.full_like(box[:, :1], index), box], 1) for index, box in enumerate(boxes)]
    return rows[0] if len(rows) == 1 else torch.cat(rows, 0)


def check_roi_boxes_shape(boxes):
    """Raise AssertionError unless boxes are (K, 5), or a list of (L, 4)."""
    if isinstance(boxes, (list, tuple)):
        if any(box.size(1) != 4 for box in boxes):
            raise AssertionError("boxes: got a list with a tensor that is not (L, 4), expected (L, 4) for each image")
    elif not isinstance(boxes, torch.Tensor):
        raise AssertionError(f"boxes: got {type(boxes).__name__}, expected a Tensor[K, 5] or a list of Tensor[L, 4]")
    elif boxes.size(1) != 5:
        raise AssertionError(f"boxes: got a tensor of shape {tuple(boxes.shape)}, expected (K, 5)")


def rows_of(boxes):
    """Return boxes in either form as rows (image, x1, y1, x2, y2)."""
    check_roi_boxes_shape(boxes)
    return boxes if isinstance(boxes, torch.Tensor) else convert_boxes_to_roi_format(boxes)


def pair(value):
    """Return a number twice, or a pair as it is."""
    return (value, value) if isinstance(value, int) else tuple(value)


def split_normalization_params(model, norm_classes=None):
    """Return the parameters of normalization layers, and the others."""
    nn = torch.nn
    norm_classes = norm_classes or [nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm,
                                    nn.modules.instancenorm._InstanceNorm, nn.LocalResponseNorm]
    for kind in norm_classes:
        if not issubclass(kind, nn.Module):
            raise ValueError(f"Class {kind} is not a subclass of nn.Module.")
    norm, other = [], []
    for module in model.modules():
        inner = next(module.children(), None) is not None
        found = norm if not inner and isinstance(module, tuple(norm_classes)) else other
        found.extend(p for p in module.parameters(recurse=not inner) if p.requires_grad)
    return norm, other


def _upcast(t):
    if t.is_floating_point():
        return t if t.dtype in (torch.float32, torch.float64) else t.float()
    return t if t.dtype in (torch.int32, torch.int64) else t.int()


def _upcast_non_float(t):
    return t if t.dtype in (torch.float32, torch.float64) else t.float()


def _loss_inter_union(boxes1, boxes2):
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    left, top, right, bottom = torch.max(x1, x1g), torch.max(y1, y1g), torch.min(x2, x2g), torch.min(y2, y2g)
    meet = (bottom > top) & (right > left)
    common = torch.where(meet, (right - left) * (bottom - top), torch.zeros_like(x1))
    return common, (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - common


def enclosing(boxes1, boxes2):
    """Return the corners of the smallest boxes around pairs of boxes."""
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    return torch.min(x1, x1g), torch.min(y1, y1g), torch.max(x2, x2g), torch.max(y2, y2g)


def reduced(loss, reduction, empty_is_zero=True):
    """Return a loss for each pair, their mean or their sum."""
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 or not empty_is_zero else 0.0 * loss.sum()
    raise ValueError(f"Invalid Value for arg 'reduction': '{reduction}'; expected 'none', 'mean' or 'sum'")
