"""Pooling of regions by maxima."""
from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torchvision.ops._regions import bin_masks, rounded
from dragon.vm.torchvision.ops._utils import pair, rows_of


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """Return the greatest pixels in the bins of regions; 0 in empty bins. ...

    Returns
    -------
    Tensor
        The regions (K, C, bins down, bins across).

    """
    rois, bins = rows_of(boxes), pair(output_size)
    height, width = input.shape[-2:]
    x1, y1, x2, y2 = rounded(rois.detach()[:, 1:] * spatial_scale).unbind(1)
    down = bin_masks(y1, (y2 - y1 + 1).clamp(min=1), bins[0], height, height)
    across = bin_masks(x1, (x2 - x1 + 1).clamp(min=1), bins[1], width, width)
    pooled, lowest = [], float("-inf")
    for index, image in enumerate(rois.detach()[:, 0].long().tolist()):
        columns = input[image][:, :, None, :].masked_fill(~across[index], lowest).amax(-1)
        pooled.append(columns[:, None].masked_fill(~down[index][:, :, None], lowest).amax(2))
    if not pooled:
        return input.new_zeros((0, input.shape[1], *bins))
    empty = ~(down.any(-1)[:, None, :, None] & across.any(-1)[:, None, None, :])
    return torch.stack(pooled).masked_fill(empty, 0)


wrap("roi_pool")


class RoIPool(Applied, call="roi_pool(input, rois; output_size, spatial_scale)"):
    """The greatest pixels in the bins of regions; see `roi_pool`."""
