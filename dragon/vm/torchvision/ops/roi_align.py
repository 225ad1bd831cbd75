"""Pooling of regions by bilinear samples."""
from dragon.vm import torch
from dragon.vm.torch.fx import wrap
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
    if not len(rois):
        return input.new_zeros((0, input.shape[1], *bins))
    smallest, owner = None if aligned else 1.0, rois.detach()[:, 0].long()
    pooled, order = [], []
    for image in owner.unique().tolist():
        members = torch.where(owner == image)[0]
        order.append(members)
        for first in range(0, len(members), CHUNK):
            part = rois[members[first:first + CHUNK]]
            if sampling_ratio > 0:
                found = _sampled(input[image], part, spatial_scale, bins, sampling_ratio, aligned, smallest)
            else:
                weights = region_weights(part, spatial_scale, input.shape[-2:], bins, sampling_ratio, aligned, smallest)
                found = _weighed(input[image], *weights)
            pooled.append(found)
    return torch.cat(pooled)[torch.argsort(torch.cat(order))]


def _weighed(image, down, across):
    """Return regions of an image by what their bins read of its rows and of its columns."""
    channels, height, width = image.shape
    rows = torch.matmul(down.reshape(-1, height), image.transpose(0, 1).reshape(height, -1))
    rows = rows.reshape(len(down), -1, channels, width)
    return torch.matmul(rows, across[:, None].transpose(-1, -2)).transpose(1, 2)


def _sampled(image, rois, spatial_scale, bins, ratio, aligned, smallest):
    """Return regions of an image whose bins all have as many samples."""
    places = []
    for axis, (count, length) in enumerate(zip(bins[::-1], image.shape[:0:-1])):
        start, end = ((rois.detach()[:, axis + part] * spatial_scale - (0.5 if aligned else 0.0)) for part in (1, 3))
        extent = end - start if smallest is None else (end - start).clamp(min=smallest)
        tick = torch.arange(count * ratio, dtype=rois.dtype, device=rois.device) + 0.5
        at = start[:, None] + tick * (extent / (count * ratio))[:, None]
        # Pixels at the edge hold for one more outside; beyond, there is nothing.
        places.append((at.clamp(0, length - 1) * (2 / max(length - 1, 1)) - 1, (at >= -1.0) & (at <= length)))
    (x, inside_x), (y, inside_y) = places
    grid = torch.stack((x[:, None, :].expand(-1, y.shape[1], -1), y[:, :, None].expand(-1, -1, x.shape[1])), dim=-1)
    found = torch.nn.functional.grid_sample(image[None], grid.flatten(0, 1)[None], padding_mode="border",
                                            align_corners=True)[0]
    found = found.reshape(image.shape[0], *grid.shape[:3])
    found = found * (inside_y[:, :, None] & inside_x[:, None, :]).to(found.dtype)
    found = found.reshape(image.shape[0], len(rois), bins[0], ratio, bins[1], ratio)
    return found.mean(dim=(3, 5)).transpose(0, 1)


wrap("roi_align")


class RoIAlign(Applied, call="roi_align(input, rois; output_size, spatial_scale, sampling_ratio, aligned=False)"):
    """The means of bilinear samples in the bins of regions; see `roi_align`."""
