"""Pooling of regions by means, each bin from a channel of its own."""
from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torchvision.ops._regions import bin_masks, rounded
from dragon.vm.torchvision.ops._utils import pair, rows_of
from dragon.vm.torchvision.ops.ps_roi_align import channels_by_bin


def ps_roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """Return the means of pixels in the bins of regions, each bin from a channel of its own."""
    rois, bins = rows_of(boxes), pair(output_size)
    height, width = input.shape[-2:]
    x1, y1, x2, y2 = rounded(rois.detach()[:, 1:] * spatial_scale).unbind(1)
    down = bin_masks(y1, (y2 - y1).clamp(min=1), bins[0], height, height - 1).to(input.dtype)
    across = bin_masks(x1, (x2 - x1).clamp(min=1), bins[1], width, width - 1).to(input.dtype)
    down, across = down / down.sum(-1, keepdim=True).clamp(min=1), across / across.sum(-1, keepdim=True).clamp(min=1)
    images = channels_by_bin(input, rois.detach()[:, 0].long(), bins, "ps_roi_pool")
    return torch.einsum("kph,kqw,kcpqhw->kcpq", down, across, images)


wrap("ps_roi_pool")


class PSRoIPool(Applied, call="ps_roi_pool(input, rois; output_size, spatial_scale)"):
    """The means of pixels in the bins of regions; see `ps_roi_pool`."""
