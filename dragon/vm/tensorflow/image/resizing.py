"""Pictures in other sizes, and boxes of them."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared import errors
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.images.resizing import METHODS, resize_batch
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.images.patches import as_batch
from dragon.vm.tensorflow.image.framing import pad_to_bounding_box


class ResizeMethod:
    """The ways of finding pixels between pixels."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


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

    Returns
    -------
    Tensor
        (boxes, height, width, channels), float32.

    """
    x, boxes, which, size = _check_crops(image, boxes, box_indices, crop_size, method)
    if is_capturing() or 0 in x.shape:
        return _composed_crops(x, boxes, which, size, method, extrapolation_value)
    return ops.crop_boxes(x, ops.cast(boxes, float32), which, size, method, float(extrapolation_value))


def _composed_crops(x, boxes, which, size, method, outside):
    """Return the same in operators that graphs can be written of."""
    height, width = size
    rows, columns = x.shape[1:3]

    def places(first, last, count, size):
        if count == 1:
            return ops.unsqueeze(0.5 * (first + last) * (size - 1), -1)
        step = (last - first) * (size - 1) / (count - 1)
        return ops.unsqueeze(first * (size - 1), -1) + ops.arange(0, count, dtype=float32) * ops.unsqueeze(step, -1)
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
    return ops.where(ops.unsqueeze(inside, -1), made, float(outside))
