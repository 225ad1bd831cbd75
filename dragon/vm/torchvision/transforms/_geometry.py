"""Warps of tensors: where each pixel is read, and the reading."""
import math

from dragon.vm import torch


def _base_grid(width, height, x_start, y_start, dtype):
    """Return places (1, height * width, 3): the centres of pixels as (x, y, 1)."""
    xs = torch.linspace(x_start, x_start + width - 1, steps=width).to(dtype)
    ys = torch.linspace(y_start, y_start + height - 1, steps=height).to(dtype)
    grid = torch.ones(1, height, width, 3, dtype=dtype)
    grid[..., 0] = xs
    grid[..., 1] = ys[:, None]
    return grid.view(1, height * width, 3)


def affine_grid(matrix, w, h, ow, oh, dtype):
    """Return where an affine matrix reads, for an output of another size."""
    theta = torch.tensor(matrix, dtype=dtype).reshape(1, 2, 3)
    scaled = theta.transpose(1, 2) / torch.tensor([0.5 * w, 0.5 * h], dtype=dtype)
    return _base_grid(ow, oh, -ow * 0.5 + 0.5, -oh * 0.5 + 0.5, dtype).bmm(scaled).view(1, oh, ow, 2)


def perspective_grid(coeffs, ow, oh, dtype):
    """Return where a projection reads."""
    a, b, c, d, e, f, g, h = coeffs
    above = torch.tensor([[[a, b, c], [d, e, f]]], dtype=dtype)
    below = torch.tensor([[[g, h, 1.0], [g, h, 1.0]]], dtype=dtype)
    base = _base_grid(ow, oh, 0.5, 0.5, dtype)
    scaled = above.transpose(1, 2) / torch.tensor([0.5 * ow, 0.5 * oh], dtype=dtype)
    return (base.bmm(scaled) / base.bmm(below.transpose(1, 2)) - 1.0).view(1, oh, ow, 2)


def apply_grid(batch, grid, mode, fill):
    """Return images (N, C, H, W) read at the places of a grid; what lies outside gets the fill."""
    if batch.shape[0] != 1:
        grid = grid.expand(batch.shape[0], *grid.shape[1:])
    sample = torch.nn.functional.grid_sample
    if fill is None:
        return sample(batch, grid, mode=mode, padding_mode="zeros", align_corners=False)
    # A channel of ones says how much of each pixel came from within.
    ones = torch.ones((batch.shape[0], 1, *batch.shape[2:]), dtype=batch.dtype, device=batch.device)
    read = sample(torch.cat((batch, ones), dim=1), grid, mode=mode, padding_mode="zeros", align_corners=False)
    inside, read = read[:, -1:], read[:, :-1]
    colour = torch.tensor(list(fill) if isinstance(fill, (tuple, list)) else [float(fill)], dtype=batch.dtype,
                          device=batch.device).view(1, -1, 1, 1)
    if mode == "nearest":
        return torch.where(inside < 0.5, colour.expand_as(read), read)
    return read * inside + (1.0 - inside) * colour


def inverse_affine_matrix(center, angle, translate, scale, shear, inverted=True):
    """Return the six numbers of rotation, shear and scale about a centre, then a shift; or of its inverse.

    With r the angle and (sx, sy) the shears, the linear part is s * R(r) * Y(sy) * X(sx), where X and Y shear by
    -tan; rotations and shears have determinant 1.
    """
    rotation, sx, sy = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(rotation - sy) / math.cos(sy)
    b = -math.cos(rotation - sy) * math.tan(sx) / math.cos(sy) - math.sin(rotation)
    c = math.sin(rotation - sy) / math.cos(sy)
    d = -math.sin(rotation - sy) * math.tan(sx) / math.cos(sy) + math.cos(rotation)
    if inverted:
        matrix = [value / scale for value in (d, -b, 0.0, -c, a, 0.0)]
        before, after = (-cx - tx, -cy - ty), (cx, cy)
    else:
        matrix = [value * scale for value in (a, b, 0.0, c, d, 0.0)]
        before, after = (-cx, -cy), (cx + tx, cy + ty)
    for row in (0, 3):
        matrix[row + 2] += matrix[row] * before[0] + matrix[row + 1] * before[1]
        matrix[row + 2] += after[row // 3]
    return matrix


def perspective_coefficients(startpoints, endpoints):
    """Return the eight numbers of the projection that takes end points to start points."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(f"Please provide exactly four corners, got {len(startpoints)} startpoints and "
                         f"{len(endpoints)} endpoints.")
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    right = torch.tensor(startpoints, dtype=torch.float64).view(8, 1)
    solved = torch.linalg.lstsq(torch.tensor(rows, dtype=torch.float64), right).solution
    return solved.view(8).to(torch.float32).tolist()
