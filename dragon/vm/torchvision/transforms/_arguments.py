"""Checks that transforms of both versions make of their arguments, and how they draw."""
import math
import numbers
from collections.abc import Sequence

from dragon.vm import torch

TWO_SIZES = "Please provide only two dimensions (h, w) for size."


def _setup_size(size, error_msg=TWO_SIZES):
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error_msg)
    return size


def _check_sequence_input(x, name, req_sizes):
    lengths = " or ".join(str(size) for size in req_sizes)
    if not isinstance(x, Sequence):
        raise TypeError(f"{name} should be a sequence of length {lengths}.")
    if len(x) not in req_sizes:
        raise ValueError(f"{name} should be a sequence of length {lengths}.")


def _setup_angle(x, name, req_sizes=(2,)):
    if isinstance(x, numbers.Number):
        if x < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        x = [-x, x]
    else:
        _check_sequence_input(x, name, req_sizes)
    return [float(angle) for angle in x]


def check_affine(translate, scale):
    """Raise for shares or scales out of their range."""
    if translate is not None:
        _check_sequence_input(translate, "translate", req_sizes=(2,))
        if not all(0.0 <= share <= 1.0 for share in translate):
            raise ValueError("translation values should be between 0 and 1")
    if scale is not None:
        _check_sequence_input(scale, "scale", req_sizes=(2,))
        if any(value <= 0 for value in scale):
            raise ValueError("scale values should be positive")


def check_erasing(scale, ratio, value):
    """Raise for arguments of RandomErasing out of their range."""
    if not isinstance(value, (numbers.Number, str, tuple, list)):
        raise TypeError("Argument value should be either a number or str or a sequence")
    if isinstance(value, str) and value != "random":
        raise ValueError("If value is str, it should be 'random'")
    if not isinstance(scale, Sequence):
        raise TypeError("Scale should be a sequence")
    if not isinstance(ratio, Sequence):
        raise TypeError("Ratio should be a sequence")
    if scale[0] < 0 or scale[1] > 1:
        raise ValueError("Scale should be between 0 and 1")


def check_linear(matrix, mean):
    """Raise unless a matrix is square and a mean fits it."""
    if matrix.size(0) != matrix.size(1):
        raise ValueError("transformation_matrix should be square. Got "
                         f"{tuple(matrix.size())} rectangular matrix.")
    if mean.size(0) != matrix.size(0):
        raise ValueError(f"mean_vector should have the same length {mean.size(0)} as any one of the dimensions of the "
                         f"transformation_matrix [{tuple(matrix.size())}]")
    if matrix.device != mean.device:
        raise ValueError(f"Input tensors should be on the same device. Got {matrix.device} and {mean.device}")
    if matrix.dtype != mean.dtype:
        raise ValueError(f"Input tensors should have the same dtype. Got {matrix.dtype} and {mean.dtype}")


def whitened(tensor, matrix, mean):
    """Return images as rows, less a mean, times a matrix, as images again."""
    shape = tensor.shape
    n = shape[-3] * shape[-2] * shape[-1]
    if n != matrix.shape[0]:
        raise ValueError("Input tensor and transformation matrix have incompatible shape."
                         f"[{shape[-3]} x {shape[-2]} x {shape[-1]}] != {matrix.shape[0]}")
    if tensor.device.type != mean.device.type:
        raise ValueError("Input tensor should be on the same device as transformation matrix and mean vector. "
                         f"Got {tensor.device} vs {mean.device}")
    rows = tensor.reshape(-1, n) - mean
    return torch.mm(rows, matrix.to(rows.dtype)).reshape(shape)


def uniform(low, high):
    """Return a number drawn between two."""
    return torch.empty(1).uniform_(float(low), float(high)).item()


def below(high, low=0):
    """Return a whole number drawn from `low` up to, not including, `high`."""
    return int(torch.randint(low, high, size=(1,)).item())


def log_ratio_of(ratio):
    """Return the logarithms of two ratios, in single precision."""
    return torch.log(torch.tensor(ratio)).tolist()


def random_rectangle(height, width, scale, log_ratio):
    """Yield ten draws (height, width) of an area and a ratio."""
    for _ in range(10):
        area = height * width * uniform(*scale)
        ratio = torch.exp(torch.empty(1).uniform_(*log_ratio)).item()
        yield area, ratio


def resized_crop_parameters(height, width, scale, ratio, log_ratio=None):
    """Return (top, left, height, width) of a random part; the middle if no draw fits."""
    for area, form in random_rectangle(height, width, scale, log_ratio or log_ratio_of(ratio)):
        w, h = int(round(math.sqrt(area * form))), int(round(math.sqrt(area / form)))
        if 0 < w <= width and 0 < h <= height:
            return below(height - h + 1), below(width - w + 1), h, w
    w, h, whole = width, height, float(width) / float(height)
    if whole < min(ratio):
        h = int(round(w / min(ratio)))
    elif whole > max(ratio):
        w = int(round(h * max(ratio)))
    return (height - h) // 2, (width - w) // 2, h, w


def erasing_parameters(channels, height, width, scale, ratio, value, log_ratio=None):
    """Return (top, left, height, width, values) of a random rectangle; None if no draw fits."""
    for area, form in random_rectangle(height, width, scale, log_ratio or log_ratio_of(ratio)):
        h, w = int(round(math.sqrt(area * form))), int(round(math.sqrt(area / form)))
        if not (h < height and w < width):
            continue
        if value is None:
            v = torch.empty([channels, h, w], dtype=torch.float32).normal_()
        else:
            v = torch.tensor(value)[:, None, None]
        return below(height - h + 1), below(width - w + 1), h, w, v
    return None


def perspective_points(width, height, distortion_scale):
    """Return the corners, and where random draws move them."""
    dx, dy = int(distortion_scale * (width // 2)) + 1, int(distortion_scale * (height // 2)) + 1
    left, right, top, bottom = (dx, 0), (width, width - dx), (dy, 0), (height, height - dy)
    ends = [[below(*x), below(*y)] for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]
    return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends


def affine_parameters(degrees, translate, scale, shear, size):
    """Return (angle, shifts, scale, shears), drawn; `size` is (width, height)."""
    angle = uniform(*degrees)
    shifts = (0, 0)
    if translate is not None:
        shifts = tuple(int(round(uniform(-share * side, share * side))) for share, side in zip(translate, size))
    factor = 1.0 if scale is None else uniform(*scale)
    shears = [0.0, 0.0]
    if shear is not None:
        shears[0] = uniform(shear[0], shear[1])
        if len(shear) == 4:
            shears[1] = uniform(shear[2], shear[3])
    return angle, shifts, factor, tuple(shears)


def displacement(alpha, sigma, size, blur):
    """Return random shifts (1, H, W, 2), smoothed by `blur`."""
    found = []
    for axis, side in ((0, size[1]), (1, size[0])):
        shift = torch.rand(1, 1, *size) * 2 - 1
        if sigma[axis] > 0.0:
            width = int(8 * sigma[axis] + 1)
            width += width % 2 == 0
            shift = blur(shift, [width, width], list(sigma))
        found.append(shift * alpha[axis] / side)
    return torch.concat(found, 1).permute([0, 2, 3, 1])
