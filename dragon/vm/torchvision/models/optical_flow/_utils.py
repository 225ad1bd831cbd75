"""Grids of places, and flows made larger."""
from dragon.vm import torch

F = torch.nn.functional


def grid_sample(img, absolute_grid, mode="bilinear", align_corners=None):
    """Return what images hold at places told in pixels."""
    height, width = img.shape[-2:]
    x, y = absolute_grid.split([1, 1], dim=-1)
    x = 2 * x / (width - 1) - 1
    # A single row has no extent to divide by: places in it are told as they are.
    y = 2 * y / (height - 1) - 1 if height > 1 else y
    return F.grid_sample(img, torch.cat([x, y], dim=-1), mode=mode, align_corners=align_corners)


def make_coords_grid(batch_size, h, w, device="cpu"):
    """Return (N, 2, H, W): the column and the row of each pixel."""
    device = torch.device(device)
    rows, columns = torch.meshgrid(torch.arange(h, device=device), torch.arange(w, device=device), indexing="ij")
    return torch.stack((columns, rows), dim=0).float()[None].repeat(batch_size, 1, 1, 1)


def upsample_flow(flow, up_mask=None, factor=8):
    """Return a flow of more pixels: each a mean of the 9 around, weighed by a mask, or bilinear without one."""
    count, channels, height, width = flow.shape
    size = height * factor, width * factor
    if up_mask is None:
        return factor * F.interpolate(flow, size=size, mode="bilinear", align_corners=True)
    weights = torch.softmax(up_mask.view(count, 1, 9, factor, factor, height, width), dim=2)
    around = F.unfold(factor * flow, kernel_size=3, padding=1).view(count, channels, 9, 1, 1, height, width)
    return torch.sum(weights * around, dim=2).permute(0, 1, 4, 2, 5, 3).reshape(count, channels, *size)
