"""The moves of boxes and keypoints with an image."""
from dragon.vm import torch
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1
from dragon.vm.torchvision.transforms.v2.functional._meta import (  # noqa: F401
    CXCYWH, XYWH, XYXY, clamped, convert_boxes, require_straight)


class Move:
    """Checks that moves of boxes share."""

    check = staticmethod(require_straight)


def flip_boxes(axis):
    """Return the function that mirrors boxes along an axis: 0 across, 1 down."""
    def flip(boxes, format, canvas_size):
        require_straight(format, "flip")
        side, parts = canvas_size[1 - axis], list(boxes.unbind(-1))
        if format == XYXY:
            parts[axis], parts[axis + 2] = side - parts[axis + 2], side - parts[axis]
        elif format == XYWH:
            parts[axis] = side - (parts[axis] + parts[axis + 2])
        else:
            parts[axis] = side - parts[axis]
        return torch.stack(parts, -1).to(boxes.dtype)
    return flip


def flip_points(axis):
    """Return the function that mirrors keypoints along an axis."""
    def flip(points, canvas_size):
        parts = list(points.unbind(-1))
        parts[axis] = canvas_size[1 - axis] - 1 - parts[axis]
        return torch.stack(parts, -1)
    return flip


def shift_boxes(boxes, across, down, format, canvas_size, clamping_mode):
    """Return boxes shifted and cut to a new canvas, and the canvas."""
    require_straight(format, "shift")
    shift = [across, down, across, down] if format == XYXY else [across, down, 0, 0]
    boxes = boxes + torch.tensor(shift, dtype=boxes.dtype)
    return clamped(boxes, format, canvas_size, clamping_mode), canvas_size


def boxes_through(move, boxes, format, canvas_size, clamping_mode, whole=False):
    """Return the boxes around the corners of boxes after a move of points; `whole` numbers may stay so throughout."""
    if boxes.numel() == 0:
        return boxes
    require_straight(format, "warp")
    values = convert_boxes(boxes if whole or boxes.is_floating_point() else boxes.float(), format, XYXY)
    points = values.reshape(-1, 4)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    corners = move(points if points.is_floating_point() else points.float()).reshape(-1, 4, 2)
    around = torch.cat([corners.amin(dim=1), corners.amax(dim=1)], dim=1).to(values.dtype)
    around = clamped(around, XYXY, canvas_size, clamping_mode)
    return convert_boxes(around, XYXY, format).reshape(boxes.shape).to(boxes.dtype)


def affine_move(canvas_size, angle, translate, scale, shear, center):
    """Return the function that moves points (..., 2) as an affine warp moves pixels."""
    height, width = canvas_size
    matrix = F1._get_inverse_affine_matrix(center or [width * 0.5, height * 0.5], float(angle),
                                           [float(t) for t in translate], scale, shear, inverted=False)

    def move(points):
        dtype = points.dtype if points.is_floating_point() else torch.float32
        turned = torch.tensor(matrix, dtype=dtype).reshape(2, 3).T
        flat = points.reshape(-1, 2).to(dtype)
        flat = torch.cat([flat, torch.ones(len(flat), 1, dtype=dtype)], dim=-1)
        return torch.matmul(flat, turned).reshape(points.shape).to(points.dtype)
    return move


def perspective_coefficients(startpoints, endpoints, coefficients):
    """Return the coefficients that are given, or those of points; one of both must be."""
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise ValueError("The startpoints/endpoints and the coefficients shouldn't be defined concurrently.")
        if len(coefficients) != 8:
            raise ValueError("Argument coefficients should have 8 float values")
        return coefficients
    if startpoints is None or endpoints is None:
        raise ValueError("Either the startpoints/endpoints or the coefficients must have non `None` values.")
    return F1._get_perspective_coeffs(startpoints, endpoints)


def perspective_move(coefficients):
    """Return the function that moves points as a projection moves pixels: the projection's inverse."""
    a, b, c, d, e, f, g, h = coefficients
    whole = a * e - b * d
    if whole == 0:
        raise RuntimeError(f"Provided perspective_coeffs {coefficients} can not be inverted to transform bounding "
                           "boxes.")
    above = [[e - f * h, c * h - b, b * f - c * e], [f * g - d, a - c * g, c * d - a * f]]
    below = [d * h - e * g, b * g - a * h, whole]

    def move(points):
        flat = points.reshape(-1, 2)
        flat = torch.cat([flat, torch.ones(len(flat), 1, dtype=flat.dtype)], dim=-1)
        over = torch.matmul(flat, torch.tensor(above, dtype=flat.dtype).T / whole)
        under = torch.matmul(flat, torch.tensor([below], dtype=flat.dtype).T / whole)
        return (over / under).reshape(points.shape)
    return move


def elastic_move(displacement, canvas_size):
    """Return the function that moves points against a displacement of pixels."""
    expected = (1, *canvas_size, 2)
    if not isinstance(displacement, torch.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    if tuple(displacement.shape) != expected:
        raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")

    def move(points):
        grid = F_t._create_identity_grid(list(canvas_size)).to(points.dtype) - displacement.to(points.dtype)
        flat = points.reshape(-1, 2).to(torch.int64)
        x, y = flat[:, 0].clamp(0, canvas_size[1] - 1), flat[:, 1].clamp(0, canvas_size[0] - 1)
        size = torch.tensor(canvas_size[::-1], dtype=points.dtype)
        return (grid[0, y, x].add(1).mul(0.5 * size).sub(0.5)).reshape(points.shape)
    return move
