"""What becomes of boxes as an image is flipped, resized, padded, cut or warped."""
import math

from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision.transforms import functional as F1
from dragon.vm.torchvision.transforms.v2.functional._meta import CORNERS, XYXY, clamped, convert_boxes
from dragon.vm.torchvision.transforms.v2.functional._moves import (
    affine_move, elastic_move, middle, padded, perspective_coefficients, perspective_move, rotation, sizes_after)
from dragon.vm.torchvision.transforms.v2.functional._turned import rectangles

CENTRES, SIDES = tv_tensors.BoundingBoxFormat.CXCYWHR, tv_tensors.BoundingBoxFormat.XYWHR


def _flipped(boxes, format, canvas_size, axis):
    """Return boxes mirrored along an axis: 0 across, 1 down."""
    side, parts = canvas_size[1 - axis], list(boxes.unbind(-1))
    if format == CORNERS:
        parts[axis::2] = [side - part for part in parts[axis::2]]
        parts = [parts[place] for place in (2, 3, 0, 1, 6, 7, 4, 5)]  # corners keep their sense of turning
    elif format == XYXY:
        parts[axis], parts[axis + 2] = side - parts[axis + 2], side - parts[axis]
    elif format == tv_tensors.BoundingBoxFormat.XYWH:
        parts[axis] = side - (parts[axis] + parts[axis + 2])
    else:
        if format == SIDES:  # the corner that is named becomes its neighbour
            radians = parts[4] * math.pi / 180
            parts[0], parts[1] = parts[0] + parts[2] * radians.cos(), parts[1] - parts[2] * radians.sin()
        parts[axis] = side - parts[axis]
        if format in (SIDES, CENTRES):
            parts[4] = 180 * axis - parts[4]
    return torch.stack(parts, -1).to(boxes.dtype)


def horizontal_flip_bounding_boxes(bounding_boxes, format, canvas_size):
    """Return boxes with left and right exchanged."""
    return _flipped(bounding_boxes, format, canvas_size, 0)


def vertical_flip_bounding_boxes(bounding_boxes, format, canvas_size):
    """Return boxes with top and bottom exchanged."""
    return _flipped(bounding_boxes, format, canvas_size, 1)


def resize_bounding_boxes(bounding_boxes, canvas_size, size, max_size=None, format=XYXY, clamping_mode="soft"):
    """Return boxes on a canvas of another size, and the canvas."""
    height, width = sizes_after(canvas_size, size, max_size)
    if (height, width) == tuple(canvas_size):
        return bounding_boxes, canvas_size
    ratios = torch.tensor([width / canvas_size[1], height / canvas_size[0]])
    if not tv_tensors.is_rotated_bounding_format(format):
        return bounding_boxes.mul(ratios.repeat(2)).to(bounding_boxes.dtype), (height, width)
    corners = convert_boxes(bounding_boxes, format, CORNERS).reshape(-1, 8).mul(ratios.repeat(4))
    made = convert_boxes(clamped(rectangles(corners), CORNERS, (height, width), clamping_mode), CORNERS, format)
    return made.to(bounding_boxes.dtype).reshape(bounding_boxes.shape), (height, width)


def _shifted(boxes, across, down, format, canvas_size, clamping_mode):
    """Return boxes shifted and cut to a new canvas, and the canvas."""
    pairs, rest = {XYXY: (2, 0), CORNERS: (4, 0)}.get(format, (1, boxes.shape[-1] - 2))
    boxes = boxes + torch.tensor([across, down] * pairs + [0] * rest, dtype=boxes.dtype)
    boxes = rectangles(boxes) if format == CORNERS else boxes
    return clamped(boxes, format, canvas_size, clamping_mode), canvas_size


def pad_bounding_boxes(bounding_boxes, format, canvas_size, padding, padding_mode="constant", clamping_mode="soft"):
    """Return boxes on a canvas with a margin, and the canvas."""
    left, top, canvas = padded(canvas_size, padding, padding_mode, "bounding boxes")
    return _shifted(bounding_boxes, left, top, format, canvas, clamping_mode)


def crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode="soft"):
    """Return boxes on a part of their canvas, and the part's size."""
    return _shifted(bounding_boxes, -left, -top, format, (height, width), clamping_mode)


def center_crop_bounding_boxes(bounding_boxes, format, canvas_size, output_size, clamping_mode="soft"):
    """Return boxes on the middle of their canvas, and its size."""
    return crop_bounding_boxes(bounding_boxes, format, *middle(output_size, canvas_size), clamping_mode)


def resized_crop_bounding_boxes(bounding_boxes, format, top, left, height, width, size, clamping_mode="soft"):
    """Return boxes on a part of their canvas in another size, and that size."""
    boxes, canvas = crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode)
    return resize_bounding_boxes(boxes, canvas, size, format=format, clamping_mode=clamping_mode)


def _through(move, boxes, format, canvas_size, clamping_mode, whole=False):
    """Return the boxes around the corners of boxes after a move of points; `whole` numbers may stay so throughout."""
    if boxes.numel() == 0:
        return boxes
    values = boxes if whole or boxes.is_floating_point() else boxes.float()
    if tv_tensors.is_rotated_bounding_format(format):
        corners = convert_boxes(values, format, CORNERS)
        between, made = CORNERS, rectangles(move(corners.reshape(-1, 2)).reshape(-1, 8))
    else:
        points = convert_boxes(values, format, XYXY).reshape(-1, 4)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        corners = move(points if points.is_floating_point() else points.float()).reshape(-1, 4, 2)
        between, made = XYXY, torch.cat([corners.amin(dim=1), corners.amax(dim=1)], dim=1).to(values.dtype)
    made = clamped(made, between, canvas_size, clamping_mode)
    return convert_boxes(made, between, format).reshape(boxes.shape).to(boxes.dtype)


def affine_bounding_boxes(bounding_boxes, format, canvas_size, angle, translate, scale, shear, center=None,
                          clamping_mode="soft"):
    """Return boxes turned, shifted, scaled and sheared."""
    move = affine_move(canvas_size, angle, translate, scale, F1._check_affine(angle, translate, scale, shear, center),
                       center)
    return _through(move, bounding_boxes, format, canvas_size, clamping_mode)


def rotate_bounding_boxes(bounding_boxes, format, canvas_size, angle, expand=False, center=None, clamping_mode="soft"):
    """Return boxes turned against the clock by an angle in degrees, and their canvas."""
    move, canvas = rotation(canvas_size, angle, expand, center)
    return _through(move, bounding_boxes, format, canvas, clamping_mode), canvas


def perspective_bounding_boxes(bounding_boxes, format, canvas_size, startpoints, endpoints, coefficients=None,
                               clamping_mode="soft"):
    """Return boxes projected as four points go to four others, or by coefficients."""
    move = perspective_move(perspective_coefficients(startpoints, endpoints, coefficients))
    return _through(move, bounding_boxes, format, canvas_size, clamping_mode)


def elastic_bounding_boxes(bounding_boxes, format, canvas_size, displacement, clamping_mode="soft"):
    """Return boxes moved against a displacement of pixels (1, H, W, 2); those that are turned move by their centres."""
    move = elastic_move(displacement, canvas_size)
    if not tv_tensors.is_rotated_bounding_format(format):
        return _through(lambda points: move(points.ceil()), bounding_boxes, format, canvas_size, clamping_mode,
                        whole=True)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    boxes = convert_boxes(bounding_boxes, format, CENTRES).reshape(-1, 5)
    boxes = torch.cat((move(boxes[:, :2].ceil()), boxes[:, 2:]), 1).to(bounding_boxes.dtype)
    boxes = clamped(boxes, CENTRES, canvas_size, clamping_mode)
    return convert_boxes(boxes, CENTRES, format).reshape(bounding_boxes.shape)
