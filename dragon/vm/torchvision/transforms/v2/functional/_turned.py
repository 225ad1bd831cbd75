"""Boxes that are turned, by their four corners (x1, y1, ..., x4, y4): made rectangles again, and cut to a canvas."""
import math

from dragon.vm import torch


def rectangles(corners):
    """Return the rectangles that keep the longer diagonal of parallelograms; their centres stay."""
    values = corners if corners.dtype in (torch.float32, torch.float64) else corners.float()
    x1, y1, x2, y2, x3, y3, x4, y4 = values.unbind(-1)
    first, last = torch.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2), torch.sqrt((x4 - x1) ** 2 + (y4 - y1) ** 2)
    along, down = torch.atan2(y1 - y2, x2 - x1), torch.atan2(y1 - y4, x4 - x1)
    between = along - down
    sign = torch.where(between > math.pi / 2, -1, 1)
    width = torch.where(first < last, first * between.sin(), first + last * between.cos() * sign) / 2
    height = torch.where(first > last, last * between.sin(), last + first * between.cos() * sign) / 2
    angle = torch.where(last > first, down + math.pi / 2, along)
    cos, sin, x, y = angle.cos(), angle.sin(), (x1 + x3) / 2, (y1 + y3) / 2
    made = [number for across, below in ((-1, -1), (1, -1), (1, 1), (-1, 1))
            for number in (x + across * width * cos + below * height * sin,
                           y + below * height * cos - across * width * sin)]
    return torch.stack(made, -1).reshape(corners.shape).to(corners.dtype)


def cut_to_canvas(corners, canvas_size, clamping_mode):
    """Return rectangles (..., 8) moved onto a canvas (height, width), each edge of which is cut in its turn.

    A side that crosses the edge moves along its own normal, so that angles stay; in the mode "hard" as far as no corner
    is left outside.
    """
    shape, (height, width) = corners.shape, canvas_size
    boxes = before = corners.reshape(-1, 8)
    for _ in range(4):
        places = _from_the_left(boxes)
        boxes, before = boxes.gather(1, places), before.gather(1, places)
        boxes = _cut_left(boxes, before, (height, width), clamping_mode)
        boxes, before = _turned(boxes.gather(1, places), width), _turned(before.gather(1, places), width)
        height, width = width, height
    return boxes.reshape(shape)


def _turned(boxes, width):
    """Return boxes turned by a quarter, so that another edge of the canvas is the left one."""
    return torch.stack((boxes[:, 1::2], width - boxes[:, ::2]), -1).reshape(boxes.shape)


def _from_the_left(boxes):
    """Return places of numbers, by which the corner farthest to the left, and of two the upper one, comes first."""
    x, y = boxes[:, ::2], boxes[:, 1::2]
    rank = y / y.abs().amax(1, keepdim=True) + x / x.abs().amax(1, keepdim=True) * 100
    return (rank.min(1)[1][:, None] * 2 + torch.arange(8)) % 8


def _lines(boxes):
    """Return (slope, height where x is 0) of the sides, each from its corner to the next."""
    x, y = boxes[:, ::2], boxes[:, 1::2]
    slope = (y.roll(-1, 1) - y) / (x.roll(-1, 1) - x)
    return slope, y - slope * x


def _crossings(slope, height):
    """Return the corners where each line meets the one before it."""
    x = -(height - height.roll(1, 1)) / (slope - slope.roll(1, 1))
    return torch.stack((x, slope * x + height), -1).reshape(len(x), 8)


def _clamped_heights(boxes, before, canvas_size, clamping_mode):
    """Return where x is 0 the heights of sides that were moved onto the canvas."""
    (s1, s2, s3, s4), (h1, h2, h3, h4) = (values.unbind(-1) for values in _lines(boxes))
    least1, least2, most3, most4 = _lines(before)[1].unbind(-1)
    height, width = canvas_size
    h1, h4 = h2.clamp(h1, h3).clamp(0, height), h3.clamp(h2, h4).clamp(0, height)
    if clamping_mode == "hard":
        h1 = h4 = (h1 + h4) / 2
        h2 = torch.stack([h1 * s2 / s1, h3 * s2 / s3, (s1 - s2) * width + h1, (s3 - s2) * width + h3],
                         1).amax(1).clamp(max=h2)
        h3 = torch.stack([height * (1 - s3 / s4) + h4 * s3 / s4, height * (1 - s3 / s2) + h2 * s3 / s2,
                          (s2 - s3) * width + h2, (s4 - s3) * width + h4], 1).amin(1).clamp(min=h3)
    return torch.stack([h1.clamp(least1, most3), h2.clamp(least2, most4), h3.clamp(least1, most3),
                        h4.clamp(least2, most4)], -1)


def _cut_left(boxes, before, canvas_size, clamping_mode):
    """Return boxes, the leftmost corner first, cut at x = 0."""
    x1, y1, x2, y2, x3, y3, x4, y4 = boxes.unbind(-1)
    crossed = _crossings(_lines(boxes)[0], _clamped_heights(boxes, before, canvas_size, clamping_mode))
    straight = boxes.clone()
    straight[:, 0].clamp_(0)
    straight[:, 6].clamp_(0)
    level = y1.isclose(y2) | y3.isclose(y4)
    gone = ((x1 <= 0) & (x2 <= 0) & (x3 <= 0) & (x4 <= 0)) | y1.isclose(y4) | y2.isclose(y3)
    gone = gone | (level & x1.isclose(x2))
    for chosen, made in (((x1 < 0) & ~crossed.isnan().any(-1), crossed), (level, straight),
                         (gone, torch.zeros_like(boxes))):
        boxes = torch.where(chosen[:, None], made, boxes)
    return boxes
