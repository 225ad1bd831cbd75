"""Compiled operators of torchvision in plain words, for a PyTorch that they do not fit."""
import torch


def nms(boxes, scores, threshold):
    """Return the boxes that no better one overlaps by more than a threshold, the best first."""
    from torchvision.ops import box_iou
    order, kept = scores.sort(descending=True, stable=True)[1].tolist(), []
    covers = (box_iou(boxes, boxes) > threshold).numpy()
    gone = covers[:0].any(0)
    for index in order:
        if not gone[index]:
            kept.append(index)
            gone = gone | covers[index]
    return torch.tensor(kept, dtype=torch.int64)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Return pooled regions by torchvision's own Python."""
    from torchvision.ops._utils import convert_boxes_to_roi_format
    from torchvision.ops.roi_align import _roi_align
    rois = boxes if isinstance(boxes, torch.Tensor) else convert_boxes_to_roi_format(boxes)
    size = (output_size,) * 2 if isinstance(output_size, int) else output_size
    return _roi_align.__wrapped__(input, rois, spatial_scale, *size, sampling_ratio, aligned)


def replace(monkeypatch, tv):
    """Put these in place of the compiled ones in the genuine detectors."""
    monkeypatch.setattr(tv.ops.boxes, "nms", nms)
    monkeypatch.setattr(tv.ops.poolers, "roi_align", roi_align)
    monkeypatch.setattr(tv.models.detection.roi_heads, "roi_align", roi_align)
