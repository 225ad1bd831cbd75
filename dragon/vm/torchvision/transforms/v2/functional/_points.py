"""What becomes of keypoints as an image is flipped, resized, padded, cut or warped."""
from dragon.vm import torch
from dragon.vm.torchvision.transforms import functional as F1
from dragon.vm.torchvision.transforms.v2.functional._moves import (
    affine_move, elastic_move, middle, padded, perspective_coefficients, perspective_move, rotation, sizes_after)


def _flipped(points, canvas_size, axis):
    """Return keypoints mirrored along an axis: 0 across, 1 down."""
    parts = list(points.unbind(-1))
    parts[axis] = canvas_size[1 - axis] - 1 - parts[axis]
    return torch.stack(parts, -1)


def horizontal_flip_keypoints(keypoints, canvas_size):
    """Return keypoints with left and right exchanged."""
    return _flipped(keypoints, canvas_size, 0)


def vertical_flip_keypoints(keypoints, canvas_size):
    """Return keypoints with top and bottom exchanged."""
    return _flipped(keypoints, canvas_size, 1)


def resize_keypoints(keypoints, size, canvas_size, max_size=None):
    """Return keypoints on a canvas of another size, and the canvas."""
    height, width = sizes_after(canvas_size, size, max_size)
    if (height, width) == tuple(canvas_size):
        return keypoints, canvas_size
    ratios = torch.tensor([width / canvas_size[1], height / canvas_size[0]])
    return keypoints.mul(ratios).to(keypoints.dtype), (height, width)


def pad_keypoints(keypoints, canvas_size, padding, padding_mode="constant"):
    """Return keypoints on a canvas with a margin, and the canvas."""
    left, top, canvas = padded(canvas_size, padding, padding_mode, "KeyPoints")
    return keypoints + torch.tensor([left, top], dtype=keypoints.dtype), canvas


def crop_keypoints(keypoints, top, left, height, width):
    """Return keypoints on a part of their canvas, and the part's size."""
    return keypoints - torch.tensor([left, top], dtype=keypoints.dtype), (height, width)


def center_crop_keypoints(inpt, canvas_size, output_size):
    """Return keypoints on the middle of their canvas, and its size."""
    return crop_keypoints(inpt, *middle(output_size, canvas_size))


def resized_crop_keypoints(keypoints, top, left, height, width, size):
    """Return keypoints on a part of their canvas in another size, and that size."""
    points, canvas = crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(points, size, canvas)


def _through(move, points):
    """Return keypoints after a move; whole numbers stay such."""
    if points.numel() == 0:
        return points
    return move(points if points.is_floating_point() else points.float()).to(points.dtype)


def affine_keypoints(keypoints, canvas_size, angle, translate, scale, shear, center=None):
    """Return keypoints turned, shifted, scaled and sheared, and their canvas."""
    shear = F1._check_affine(angle, translate, scale, shear, center)
    return _through(affine_move(canvas_size, angle, translate, scale, shear, center), keypoints), canvas_size


def rotate_keypoints(keypoints, canvas_size, angle, expand=False, center=None):
    """Return keypoints turned against the clock by an angle in degrees, and their canvas."""
    if keypoints.numel() == 0:
        return keypoints, canvas_size
    move, canvas = rotation(canvas_size, angle, expand, center)
    return _through(move, keypoints), canvas


def perspective_keypoints(keypoints, canvas_size, startpoints, endpoints, coefficients=None):
    """Return keypoints projected as four points go to four others, or by coefficients."""
    return _through(perspective_move(perspective_coefficients(startpoints, endpoints, coefficients)), keypoints)


def elastic_keypoints(keypoints, canvas_size, displacement):
    """Return keypoints moved against a displacement of pixels (1, H, W, 2)."""
    return _through(elastic_move(displacement, canvas_size), keypoints)
