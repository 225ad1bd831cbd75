"""Overlaps of turned boxes: what two have in common is the polygon of their crossings and inner corners."""
import math

from dragon.vm import torch

HALVES = ((1, 1), (1, -1), (-1, -1), (-1, 1))  # the corners, one after the other around the box
NEAR = 1e-9  # of a side: a corner on the other box's edge is within it
LEAST = 1e-14  # an area; boxes without one have nothing in common with any


def axes_of(boxes):
    """Return (centres, axes): halves of the sides as vectors, of boxes (cx, cy, w, h, degrees)."""
    cos, sin = torch.cos(boxes[:, 4] * math.pi / 180), torch.sin(boxes[:, 4] * math.pi / 180)
    along = torch.stack((cos, -sin), 1) * boxes[:, 2:3] / 2
    across = torch.stack((sin, cos), 1) * boxes[:, 3:4] / 2
    return boxes[:, :2], torch.stack((along, across), 1)


def corners_of(centres, axes):
    """Return the four corners of boxes, of shape (N, 4, 2)."""
    return torch.stack([centres + one * axes[:, 0] + other * axes[:, 1] for one, other in HALVES], 1)


def cross(one, other):
    """Return the area that two vectors span, with its sign."""
    return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]


def within(points, centres, axes):
    """Return which points lie in boxes: no further from the centre along a side than half of it."""
    shares = ((points - centres)[..., None, :] * axes).sum(-1)
    return (shares.abs() <= axes.square().sum(-1) * (1 + NEAR) + NEAR).all(-1)


def crossings(first, second):
    """Return (points, whether they are), where the edges of pairs of boxes cross: sixteen for each pair."""
    start, other = first[:, None, :, None], second[None, :, None]
    step, way = first.roll(-1, 1)[:, None, :, None] - start, second.roll(-1, 1)[None, :, None] - other
    span = cross(step, way)
    is_crossing = span != 0
    span = torch.where(is_crossing, span, torch.ones_like(span))
    apart = other - start
    here, there = cross(apart, way) / span, cross(apart, step) / span
    is_crossing = is_crossing & (here >= 0) & (here <= 1) & (there >= 0) & (there <= 1)
    return (start + here[..., None] * step).flatten(2, 3), is_crossing.flatten(2, 3)


def area_of(points, is_there):
    """Return the areas of convex polygons whose corners come in any order, among points that do not count."""
    count = is_there.sum(-1, keepdim=True).clamp(min=1)
    centre = torch.where(is_there[..., None], points, torch.zeros_like(points)).sum(-2, keepdim=True) / count[..., None]
    spokes = points - centre
    # A point that does not count stands where one that does is, which spans nothing with it.
    known = is_there.to(torch.int64).argmax(-1, keepdim=True)[..., None].expand(*is_there.shape[:-1], 1, 2)
    spokes = torch.where(is_there[..., None], spokes, spokes.gather(-2, known))
    order = torch.atan2(spokes[..., 1], spokes[..., 0]).argsort(-1)[..., None].expand(spokes.shape)
    spokes = spokes.gather(-2, order)
    return cross(spokes, spokes.roll(-1, -2)).sum(-1).abs() / 2 * is_there.any(-1)


def box_iou_rotated(boxes1, boxes2):
    """Return the common area over the joint area, of every pair of boxes (cx, cy, w, h, degrees).

    Parameters
    ----------
    boxes1 : Tensor
        Of shape (N, 5).
    boxes2 : Tensor
        Of shape (M, 5).

    Returns
    -------
    Tensor
        Of shape (N, M).

    """
    if boxes1.ndim != 2 or boxes2.ndim != 2 or boxes1.shape[1] != 5 or boxes2.shape[1] != 5:
        raise RuntimeError(f"box_iou_rotated: got boxes {tuple(boxes1.shape)} and {tuple(boxes2.shape)}, "
                           "expected (N, 5) and (M, 5)")
    first, second = boxes1.detach().double(), boxes2.detach().double()
    if not len(first) or not len(second):
        return torch.zeros((len(first), len(second)), dtype=boxes1.dtype, device=boxes1.device)
    (centre1, axes1), (centre2, axes2) = axes_of(first), axes_of(second)
    corners1, corners2 = corners_of(centre1, axes1), corners_of(centre2, axes2)
    crossing, is_crossing = crossings(corners1, corners2)
    shape = (len(first), len(second), 4, 2)
    points = torch.cat((crossing, corners1[:, None].expand(shape), corners2[None].expand(shape)), 2)
    is_there = torch.cat((is_crossing, within(corners1[:, None], centre2[None, :, None], axes2[None, :, None]),
                          within(corners2[None], centre1[:, None, None], axes1[:, None, None])), 2)
    common = area_of(points, is_there)
    sizes1, sizes2 = (first[:, 2] * first[:, 3])[:, None], (second[:, 2] * second[:, 3])[None]
    has_size = (sizes1 > LEAST) & (sizes2 > LEAST)
    joint = torch.where(has_size, sizes1 + sizes2 - common, torch.ones_like(common))
    return torch.where(has_size, common / joint, torch.zeros_like(joint)).to(boxes1.dtype)
