"""Pictures in other sizes: TensorFlow's ways of reading between pixels, each as a matrix for an axis."""
import functools

from dragon.core.capture.settings import is_capturing
from dragon.vm.shared import errors
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.image.framing import as_batch, pad_to_bounding_box

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
FEW = 16  # channels
TABLE = 1024  # steps between two pixels that TensorFlow's cubic kernel knows


class ResizeMethod:
    """How pixels between pixels are found."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


def _cubic(x, a=-0.5):
    import numpy as np
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _mitchell(x):
    import numpy as np
    near = (7 * x - 12) * x * x / 6 + 16 / 18
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _lanczos(radius, x):
    import numpy as np
    return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _gaussian(x):
    import numpy as np
    return np.where(x < 1.5, np.exp(-2.0 * x * x), 0.0)


def _triangle(x):
    import numpy as np
    return np.maximum(0.0, 1.0 - x)


KERNELS = {"bilinear": _triangle, "bicubic": _cubic, "mitchellcubic": _mitchell, "gaussian": _gaussian,
           "lanczos3": functools.partial(_lanczos, 3.0), "lanczos5": functools.partial(_lanczos, 5.0)}


def _by_kernel(size, wanted, method, antialias):
    """Return the matrix of a kernel that is widened where the picture shrinks."""
    import numpy as np
    # In TensorFlow's single precision, which decides what is just within a kernel's reach.
    one, half = np.float32(1), np.float32(0.5)
    scale = one / (np.float32(wanted) / np.float32(size))
    wide = max(scale, one) if antialias else one
    centers, pixels = ((np.arange(count, dtype=np.float32) + half) for count in (wanted, size))
    weights = KERNELS[method](np.abs(pixels[None, :] - (centers * scale)[:, None]) * (one / wide)).astype(float)
    return weights / weights.sum(1, keepdims=True)


def _bicubic(size, wanted):
    import numpy as np
    places = (np.arange(wanted) + 0.5) * (size / wanted) - 0.5
    low = np.floor(places)
    part, rows = np.rint((places - low) * TABLE) / TABLE, np.arange(wanted)
    weights = np.zeros((wanted, size))
    for step in (-1, 0, 1, 2):
        at = low.astype(int) + step
        inside = (at >= 0) & (at < size)
        weights[rows[inside], at[inside]] += _cubic(np.abs(step - part))[inside]
    return weights / weights.sum(1, keepdims=True)


def _area(size, wanted):
    import numpy as np
    scale = size / wanted
    begin, pixels = np.arange(wanted)[:, None] * scale, np.arange(size)[None, :]
    covered = np.minimum(begin + scale, pixels + 1) - np.maximum(begin, pixels)
    return np.maximum(covered, 0) / scale


@functools.lru_cache(maxsize=64)
def _weights(size, wanted, method, antialias):
    import numpy as np
    if method == "area":
        made = _area(size, wanted)
    elif method == "bicubic" and not antialias:
        made = _bicubic(size, wanted)
    else:
        made = _by_kernel(size, wanted, method, antialias)
    return convert_to_tensor(made.astype(np.float32))


def resize_batch(x, height, width, method, antialias=False):
    """Return pictures (batch, height, width, channels) in another size."""
    count, rows, columns, channels = x.shape
    if method == "nearest":
        for axis, size, wanted in ((1, rows, height), (2, columns, width)):
            places = [min(int((place + 0.5) * size / wanted), size - 1) for place in range(wanted)]
            x = ops.index_select(x, axis, convert_to_tensor(places, "int64"))
        return x
    x = ops.cast(x, float32) if x.dtype is not float32 else x
    if method == "bilinear" and not antialias:
        made = ops.interpolate(ops.permute(x, [0, 3, 1, 2]), [height, width], mode="bilinear", align_corners=False)
        return ops.permute(made, [0, 2, 3, 1])
    x = ops.matmul(_weights(rows, height, method, antialias), ops.reshape(x, (count, rows, columns * channels)))
    x, across = ops.reshape(x, (count, height, columns, channels)), _weights(columns, width, method, antialias)
    if channels >= FEW:
        return ops.matmul(across, x)
    # Products with so few columns are slow: the channels stand aside.
    x = ops.reshape(ops.permute(x, [0, 1, 3, 2]), (count * height * channels, columns))
    x = ops.matmul(x, ops.permute(across, [1, 0]))
    return ops.permute(ops.reshape(x, (count, height, channels, width)), [0, 1, 3, 2])


def _fit(shape, size):
    """Return the largest size of the proportions of a picture within another one, in TensorFlow's single precision."""
    import numpy as np
    factor = min(np.float32(wanted / length) for wanted, length in zip(size, shape))
    return [int(np.rint(factor * np.float32(length))) for length in shape]


def resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None):
    """Return pictures in another size.

    Parameters
    ----------
    images : Tensor
        (batch, height, width, channels) or one without batch.
    size : Sequence[int]
        Height and width.
    method : str, optional, default="bilinear"
        One of ResizeMethod.
    preserve_aspect_ratio : bool, optional, default=False
        Whether the picture is only made to fit into the size.
    antialias : bool, optional, default=False
        Whether more pixels are read where the picture shrinks.
    name : str, optional
        Not used.

    Returns
    -------
    Tensor
        float32, but for "nearest", which keeps the dtype.

    """
    method = getattr(method, "value", method)
    if method not in METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    x, single = as_batch(images)
    try:
        size = as_ints(size)
    except TypeError:
        raise ValueError(f"'size' must be a 1-D int32 Tensor. Received: size={size}") from None
    if not isinstance(size, list) or len(size) != 2:
        raise ValueError(f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width. Received: {size}")
    height, width = _fit(x.shape[1:3], size) if preserve_aspect_ratio else size
    if height <= 0 or width <= 0:
        raise invalid_argument(f"output dimensions must be positive. Received: {size} [Op:Resize]")
    made = resize_batch(x, height, width, method, bool(antialias))
    return made[0] if single else made


def _place(shape, size):
    """Return in which size a picture fits into another one, and where it begins, in TensorFlow's single precision."""
    import numpy as np
    shape, size = np.float32(shape), np.float32(size)
    inner = shape / (shape / size).max()
    return np.floor(inner).astype(int).tolist(), np.maximum(np.floor((size - inner) / 2), 0).astype(int).tolist()


def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    """Return pictures made to fit into a size, with zeros around them."""
    x, single = as_batch(image)
    height, width = int(target_height), int(target_width)
    if height <= 0 or width <= 0:
        raise ValueError(f"target_height and target_width must be > 0. Received: {target_height}, {target_width}")
    inner, begin = _place(x.shape[1:3], (height, width))
    made = resize(x, inner, method, antialias=antialias)
    made = pad_to_bounding_box(made, *begin, height, width)
    return made[0] if single else made


def _check_crops(image, boxes, which, size, method):
    """Return the arguments of crops as tensors, or raise TensorFlow's errors."""
    x, boxes = ops.cast(take(image), float32), take(boxes)
    which, size = ops.cast(take(which), "int64"), as_ints(size)
    if method not in ("bilinear", "nearest"):
        raise invalid_argument(f"method must be bilinear or nearest. Received: {method}")
    if x.ndim != 4:
        raise invalid_argument(f"input image must be 4-D. Received shape {x.shape}")
    if len(size) != 2 or min(size) <= 0:
        raise invalid_argument(f"crop dimensions must be two positive numbers. Received: {size}")
    if boxes.ndim != 2 or boxes.shape[1] != 4 or tuple(which.shape) != tuple(boxes.shape[:1]):
        raise invalid_argument(f"boxes must be of shape [boxes, 4], box_indices of shape [boxes]. Received shapes "
                               f"{boxes.shape} and {which.shape}")
    if not is_capturing() and which.shape[0] and not 0 <= int(ops.amin(which)) <= int(ops.amax(which)) < x.shape[0]:
        raise errors.OutOfRangeError(None, None, f"box_indices must be within [0, {x.shape[0]}). Received: {which}")
    return x, boxes, which, size


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Return boxes of pictures in one size.

    Parameters
    ----------
    image : Tensor
        (batch, height, width, channels).
    boxes : Tensor
        Rows of y1, x1, y2, x2 between 0 and 1.
    box_indices : Tensor
        Which picture each box is of.
    crop_size : Sequence[int]
        Height and width.
    method : str, optional, default="bilinear"
        Or "nearest".
    extrapolation_value : float, optional, default=0.0
        What is outside of pictures.
    name : str, optional
        Not used.

    Returns
    -------
    Tensor
        (boxes, height, width, channels), float32.

    """
    x, boxes, which, (height, width) = _check_crops(image, boxes, box_indices, crop_size, method)
    rows, columns = x.shape[1:3]

    def places(first, last, count, size):
        if count == 1:
            return ops.unsqueeze(0.5 * (first + last) * (size - 1), -1)
        steps = ops.arange(0, count, dtype=float32) / (count - 1)
        return (ops.unsqueeze(first, -1) + ops.unsqueeze(last - first, -1) * steps) * (size - 1)
    ys, xs = places(boxes[:, 0], boxes[:, 2], height, rows), places(boxes[:, 1], boxes[:, 3], width, columns)
    inside = ops.logical_and(ops.unsqueeze(ops.logical_and(ys >= 0, ys <= rows - 1), 2),
                             ops.unsqueeze(ops.logical_and(xs >= 0, xs <= columns - 1), 1))
    batch = ops.reshape(which, (-1, 1, 1))

    def read(row, column):
        row = ops.cast(ops.clamp(row, 0, rows - 1), "int64")
        column = ops.cast(ops.clamp(column, 0, columns - 1), "int64")
        return ops.index(x, [batch, ops.unsqueeze(row, 2), ops.unsqueeze(column, 1)])
    if method == "nearest":
        made = read(ops.floor(ys + 0.5), ops.floor(xs + 0.5))
    else:
        top, left = ops.floor(ys), ops.floor(xs)
        down = ops.reshape(ys - top, (*ys.shape, 1, 1))
        right = ops.reshape(xs - left, (xs.shape[0], 1, xs.shape[1], 1))
        bottom, end = ops.ceil(ys), ops.ceil(xs)
        upper = read(top, left) + (read(top, end) - read(top, left)) * right
        lower = read(bottom, left) + (read(bottom, end) - read(bottom, left)) * right
        made = upper + (lower - upper) * down
    return ops.where(ops.unsqueeze(inside, -1), made, float(extrapolation_value))
