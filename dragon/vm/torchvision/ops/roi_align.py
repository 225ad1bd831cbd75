"""Pooling of regions by bilinear samples."""
from dragon.vm import torch
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torchvision.ops._regions import sampling_weights
from dragon.vm.torchvision.ops._utils import pair, rows_of

CHUNK = 64  # regions at a time, which bounds the memory of the first product


def region_weights(rois, spatial_scale, size, bins, ratio, aligned, smallest):
    """Return what the bins of regions read of rows and of columns."""
    x1, y1, x2, y2 = (rois.detach()[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    height, width = y2 - y1, x2 - x1
    if smallest is not None:
        height, width = height.clamp(min=smallest), width.clamp(min=smallest)
    return (sampling_weights(y1, height, bins[0], ratio, size[0]),
            sampling_weights(x1, width, bins[1], ratio, size[1]))


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Return the means of bilinear samples in the bins of regions.

    Parameters
    ----------
    sampling_ratio : int, optional, default=-1
        Samples in a bin, down and across; as many as it has pixels if not positive.
    aligned : bool, optional, default=False
        Whether pixels have their centres at halves.

    Returns
    -------
    Tensor
        The regions (K, C, bins down, bins across).

    """
    rois, bins = rows_of(boxes), pair(output_size)
    if input.dtype != rois.dtype:
        raise RuntimeError(f"roi_align: got input {input.dtype} and boxes {rois.dtype}, expected the same")
    down, across = region_weights(rois, spatial_scale, input.shape[-2:], bins, sampling_ratio, aligned,
                                  None if aligned else 1.0)
    image = rois.detach()[:, 0].long()
    pooled = []
    for first in range(0, len(rois), CHUNK):
        part = slice(first, first + CHUNK)
        rows = torch.matmul(down[part, None], input[image[part]])
        pooled.append(torch.matmul(rows, across[part, None].transpose(-1, -2)))
    return torch.cat(pooled) if pooled else input.new_zeros((0, input.shape[1], *bins))


class RoIAlign(Applied, call="roi_align(input, rois; output_size, spatial_scale, sampling_ratio, aligned=False)"):
    """The means of bilinear samples in the bins of regions; see `roi_align`."""
