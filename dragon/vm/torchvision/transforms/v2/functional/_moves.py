"""Where points go, and what the canvas becomes, as an image is resized, padded, cut or warped."""
from dragon.vm import torch
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1


def sizes_after(canvas, size, max_size=None):
    """Return (height, width) of what is resized."""
    size = [size] if isinstance(size, int) else size
    if max_size is not None and size is not None and len(size) != 1:
        raise ValueError("max_size should only be passed if size is None or specifies the length of the smaller edge, "
                         "i.e. size should be an int or a sequence of length 1 in torchscript mode.")
    return F1._compute_resized_output_size(tuple(canvas), size, max_size, allow_size_none=True)


def padded(canvas_size, padding, padding_mode, what):
    """Return (left, top, canvas) of what gets a margin."""
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with {what}")
    left, right, top, bottom = F_t._parse_pad_padding(padding)
    return left, top, (canvas_size[0] + top + bottom, canvas_size[1] + left + right)


def middle(output_size, canvas):
    """Return (top, left, height, width) of the middle of a canvas."""
    height, width = F1._two(output_size)
    return int(round((canvas[0] - height) / 2.0)), int(round((canvas[1] - width) / 2.0)), height, width


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


def rotation(canvas_size, angle, expand, center):
    """Return the function that moves points as a rotation moves pixels, and the canvas behind it."""
    move = affine_move(canvas_size, -angle, [0.0, 0.0], 1.0, [0.0, 0.0], center)
    if not expand:
        return move, canvas_size
    height, width = canvas_size
    corners = move(torch.tensor([[0.0, 0.0], [0.0, height], [width, height], [width, 0.0]]))
    first = corners.amin(0)
    matrix = F1._get_inverse_affine_matrix(center or [width * 0.5, height * 0.5], -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    new_width, new_height = F_t._compute_affine_output_size(matrix, width, height)
    return (lambda points: move(points) - first.to(points.dtype)), (new_height, new_width)
