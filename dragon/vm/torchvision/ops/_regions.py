"""Regions of images: the weights with which bins read rows and columns.

A bin's sample is bilinear, so it is a product of what it reads of rows and of columns: pooling is two matrix products.
"""
from dragon.vm import torch


def sampling_weights(start, extent, bins, ratio, length):
    """Return (K, bins, length): how much each bin of each region reads of each row, or column.

    Parameters
    ----------
    start : Tensor
        Where the regions start.
    extent : Tensor
        How long they are.
    bins : int
        Into how many bins each is cut.
    ratio : int
        Samples in a bin; from the bin's length if not positive.
    length : int
        How many rows there are.

    Returns
    -------
    Tensor
        The weights; each bin's are divided by its number of samples.

    """
    step = extent / bins
    samples = torch.full_like(step, ratio) if ratio > 0 else torch.ceil(step).clamp(min=0)
    most = int(samples.max()) if samples.numel() else 0
    tick = torch.arange(max(most, 1), dtype=start.dtype, device=start.device)
    number = torch.arange(bins, dtype=start.dtype, device=start.device)
    inside = tick[None, :] < samples[:, None]
    at = ((start[:, None] + number * step[:, None])[:, :, None]
          + ((tick + 0.5) * step[:, None] / samples.clamp(min=1)[:, None])[:, None, :])
    inside = inside[:, None, :] & (at >= -1.0) & (at <= length)
    rows = torch.arange(length, dtype=start.dtype, device=start.device)
    read = (1 - (at.clamp(0, length - 1)[..., None] - rows).abs()).clamp(min=0)
    return (read * inside[..., None]).sum(2) / samples.clamp(min=1)[:, None, None]


def rounded(x):
    """Return the nearest whole numbers, halves away from zero."""
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


def bin_masks(start, extent, bins, length, last):
    """Return (K, bins, length): the rows that lie in each bin, bins cut at row `last`."""
    step = (extent / bins)[:, None]
    number = torch.arange(bins, dtype=start.dtype, device=start.device)
    low = (torch.floor(number * step) + start[:, None]).clamp(0, last)
    high = (torch.ceil((number + 1) * step) + start[:, None]).clamp(0, last)
    rows = torch.arange(length, dtype=start.dtype, device=start.device)
    return (rows >= low[..., None]) & (rows < high[..., None])
