"""The operators of `torch.ops.torchvision`, by which archives and scripts of detectors call."""
from typing import List, Union

from dragon.vm import torch
from dragon.vm.torch.jit.annotations import BroadcastingList2
from dragon.vm.torchvision.ops._turned import box_iou_rotated
from dragon.vm.torchvision.ops.boxes import nms
from dragon.vm.torchvision.ops.deform_conv import deform_conv2d
from dragon.vm.torchvision.ops.ps_roi_align import ps_roi_align
from dragon.vm.torchvision.ops.ps_roi_pool import ps_roi_pool
from dragon.vm.torchvision.ops.roi_align import RoIAlign, roi_align
from dragon.vm.torchvision.ops.roi_pool import RoIPool, roi_pool

Tensor = torch.Tensor
LIBRARY = torch.library.Library("torchvision", "DEF")


def with_places(pooled, rois, bins):
    """Return what regions give, and where in the channels it came from, which gradients alone ask for."""
    return pooled, torch.zeros((len(rois), pooled.shape[1], *bins), dtype=torch.int32, device=rois.device)


def deform(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups,
           offset_groups, use_mask):
    """Return a convolution at shifted places."""
    return deform_conv2d(input, offset, weight, bias, (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w),
                         mask if use_mask else None)


REGIONS = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
for _schema, _function in (
        ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", nms),
        ("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", box_iou_rotated),
        (f"roi_align({REGIONS}, int sampling_ratio, bool aligned) -> Tensor",
         lambda input, rois, scale, high, wide, ratio, aligned: roi_align(input, rois, (high, wide), scale, ratio,
                                                                          aligned)),
        (f"roi_pool({REGIONS}) -> (Tensor, Tensor)",
         lambda input, rois, scale, high, wide: with_places(roi_pool(input, rois, (high, wide), scale), rois,
                                                            (high, wide))),
        (f"ps_roi_align({REGIONS}, int sampling_ratio) -> (Tensor, Tensor)",
         lambda input, rois, scale, high, wide, ratio: with_places(
             ps_roi_align(input, rois, (high, wide), scale, ratio), rois, (high, wide))),
        (f"ps_roi_pool({REGIONS}) -> (Tensor, Tensor)",
         lambda input, rois, scale, high, wide: with_places(ps_roi_pool(input, rois, (high, wide), scale), rois,
                                                            (high, wide))),
        ("deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, "
         "int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, "
         "bool use_mask) -> Tensor", deform)):
    LIBRARY.impl(LIBRARY.define(_schema), _function)


# --- the functions in the words of scripts

def rows_of(boxes: Union[Tensor, List[Tensor]]) -> Tensor:
    """Return boxes in either form as rows (image, x1, y1, x2, y2)."""
    if isinstance(boxes, Tensor):
        return boxes
    rows = [torch.cat([torch.full_like(boxes[i][:, :1], i), boxes[i]], 1) for i in range(len(boxes))]
    return torch.cat(rows)


def script_nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """See `nms`."""
    return torch.ops.torchvision.nms(boxes, scores, iou_threshold)


def script_roi_align(input: Tensor, boxes: Union[Tensor, List[Tensor]], output_size: BroadcastingList2[int],
                     spatial_scale: float = 1.0, sampling_ratio: int = -1, aligned: bool = False) -> Tensor:
    """See `roi_align`."""
    return torch.ops.torchvision.roi_align(input, rows_of(boxes), spatial_scale, output_size[0], output_size[1],
                                           sampling_ratio, aligned)


def script_roi_pool(input: Tensor, boxes: Union[Tensor, List[Tensor]], output_size: BroadcastingList2[int],
                    spatial_scale: float = 1.0) -> Tensor:
    """See `roi_pool`."""
    found, _ = torch.ops.torchvision.roi_pool(input, rows_of(boxes), spatial_scale, output_size[0], output_size[1])
    return found


def script_ps_roi_align(input: Tensor, boxes: Union[Tensor, List[Tensor]], output_size: BroadcastingList2[int],
                        spatial_scale: float = 1.0, sampling_ratio: int = -1) -> Tensor:
    """See `ps_roi_align`."""
    found, _ = torch.ops.torchvision.ps_roi_align(input, rows_of(boxes), spatial_scale, output_size[0],
                                                  output_size[1], sampling_ratio)
    return found


def script_ps_roi_pool(input: Tensor, boxes: Union[Tensor, List[Tensor]], output_size: BroadcastingList2[int],
                       spatial_scale: float = 1.0) -> Tensor:
    """See `ps_roi_pool`."""
    found, _ = torch.ops.torchvision.ps_roi_pool(input, rows_of(boxes), spatial_scale, output_size[0], output_size[1])
    return found


def script_align(self, input: Tensor, rois: Union[Tensor, List[Tensor]]) -> Tensor:
    """See `RoIAlign`."""
    return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


def script_pool(self, input: Tensor, rois: Union[Tensor, List[Tensor]]) -> Tensor:
    """See `RoIPool`."""
    return roi_pool(input, rois, self.output_size, self.spatial_scale)


for _function, _form in ((nms, script_nms), (roi_align, script_roi_align), (roi_pool, script_roi_pool),
                         (ps_roi_align, script_ps_roi_align), (ps_roi_pool, script_ps_roi_pool),
                         (RoIAlign.forward, script_align), (RoIPool.forward, script_pool)):
    _function._script_form = _form
