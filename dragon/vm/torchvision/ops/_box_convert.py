"""Boxes from one notation to another, each step by its formula."""
import math

from dragon.vm import torch


def _box_cxcywh_to_xyxy(boxes):
    cx, cy, w, h = boxes.unbind(-1)
    return torch.stack((cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h), dim=-1)


def _box_xyxy_to_cxcywh(boxes):
    x1, y1, x2, y2 = boxes.unbind(-1)
    return torch.stack(((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1), dim=-1)


def _box_xywh_to_xyxy(boxes):
    x, y, w, h = boxes.unbind(-1)
    return torch.stack([x, y, x + w, y + h], dim=-1)


def _box_xyxy_to_xywh(boxes):
    x1, y1, x2, y2 = boxes.unbind(-1)
    return torch.stack((x1, y1, x2 - x1, y2 - y1), dim=-1)


def _like(boxes, made):
    return made if boxes.is_floating_point() else made.round().to(boxes.dtype)


def _turn(angle):
    radians = angle * math.pi / 180.0
    return torch.cos(radians), torch.sin(radians)


def _box_cxcywhr_to_xywhr(boxes):
    cx, cy, w, h, r = boxes.unbind(-1)
    cos, sin = _turn(r)
    return _like(boxes, torch.stack((cx - w / 2 * cos - h / 2 * sin, cy - h / 2 * cos + w / 2 * sin, w, h, r), dim=-1))


def _box_xywhr_to_cxcywhr(boxes):
    x1, y1, w, h, r = boxes.unbind(-1)
    cos, sin = _turn(r)
    return _like(boxes, torch.stack([x1 + w / 2 * cos + h / 2 * sin, y1 - w / 2 * sin + h / 2 * cos, w, h, r], dim=-1))


def _box_xywhr_to_xyxyxyxy(boxes):
    x1, y1, w, h, r = boxes.unbind(-1)
    cos, sin = _turn(r)
    x2, y2 = x1 + w * cos, y1 - w * sin
    corners = (x1, y1, x2, y2, x2 + h * sin, y2 + h * cos, x1 + h * sin, y1 + h * cos)
    return _like(boxes, torch.stack(corners, dim=-1))


def _box_xyxyxyxy_to_xywhr(boxes):
    x1, y1, x2, y2, x3, y3, _, _ = boxes.unbind(-1)
    angle = torch.atan2(y1 - y2, x2 - x1) * 180 / math.pi
    w = ((x2 - x1) ** 2 + (y1 - y2) ** 2).sqrt()
    h = ((x3 - x2) ** 2 + (y3 - y2) ** 2).sqrt()
    return _like(boxes, torch.stack((x1, y1, w, h, angle), dim=-1))
