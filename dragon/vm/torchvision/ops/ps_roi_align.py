"""Pooling of regions by bilinear samples, each bin from a channel of its own."""
from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torchvision.ops._utils import pair, rows_of
from dragon.vm.torchvision.ops.roi_align import region_weights


def channels_by_bin(input, image, bins, who):
    """Return the images of regions with channels as (K, C, bins down, bins across, H, W)."""
    if input.shape[1] % (bins[0] * bins[1]):
        raise RuntimeError(f"{who}: got {input.shape[1]} channels, expected a multiple of {bins[0] * bins[1]} bins")
    return input.reshape(input.shape[0], -1, *bins, *input.shape[-2:])[image]


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    """Return the means of bilinear samples in the bins of regions, each bin from a channel of its own."""
    rois, bins = rows_of(boxes), pair(output_size)
    down, across = region_weights(rois, spatial_scale, input.shape[-2:], bins, sampling_ratio, True, None)
    images = channels_by_bin(input, rois.detach()[:, 0].long(), bins, "ps_roi_align")
    return torch.einsum("kph,kqw,kcpqhw->kcpq", down, across, images)


wrap("ps_roi_align")


class PSRoIAlign(Applied, call="ps_roi_align(input, rois; output_size, spatial_scale, sampling_ratio)"):
    """The means of bilinear samples in the bins of regions; see `ps_roi_align`."""
