"""Pictures cut, turned, mirrored and framed."""
from dragon.vm.shared import errors
from dragon.vm.shared.arrays.array import as_ints, pad
from dragon.vm.shared.arrays.creation import cast, saturate_cast
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.images.edges import find_edges
from dragon.vm.shared.images.patches import as_batch, cut_patches
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.tensor import ops


def _with_batch(function):
    """Have a function of batches take single pictures too."""
    import functools

    @functools.wraps(function)
    def either(image, *args, **kwargs):
        x, single = as_batch(image)
        made = function(x, *args, **kwargs)
        return made[0] if single else made
    return either


@_with_batch
def flip_left_right(image):
    """Return pictures mirrored left to right."""
    return ops.flip(image, [2])


@_with_batch
def flip_up_down(image):
    """Return pictures mirrored top to bottom."""
    return ops.flip(image, [1])


@_with_batch
def transpose(image, name=None):
    """Return pictures with rows and columns exchanged."""
    return ops.permute(image, [0, 2, 1, 3])


@_with_batch
def rot90(image, k=1, name=None):
    """Return pictures turned counter-clockwise by k times 90 degrees."""
    return ops.rot90(image, int(k) % 4, [1, 2])


@_with_batch
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Return a box of pictures: where it begins, and its sizes."""
    top, left, height, width = (as_ints(item) for item in (offset_height, offset_width, target_height, target_width))
    if top < 0 or left < 0:
        raise ValueError(f"offset_height and offset_width must be >= 0. Received: {top}, {left}")
    if height <= 0 or width <= 0:
        raise ValueError(f"target_height and target_width must be > 0. Received: {height}, {width}")
    if top + height > image.shape[1] or left + width > image.shape[2]:
        raise ValueError(f"The box must lie within the picture, of shape {image.shape}. Received: offsets {top}, "
                         f"{left} and sizes {height}, {width}")
    return ops.narrow(ops.narrow(image, 1, top, height), 2, left, width)


@_with_batch
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Return pictures within larger ones of zeros: where they begin, and the sizes of the larger ones."""
    top, left, height, width = (as_ints(item) for item in (offset_height, offset_width, target_height, target_width))
    bottom, right = height - top - image.shape[1], width - left - image.shape[2]
    if min(top, left, bottom, right) < 0:
        raise ValueError(f"The picture, of shape {image.shape}, must lie within the box. Received: offsets {top}, "
                         f"{left} and sizes {height}, {width}")
    return pad(image, [[0, 0], [top, bottom], [left, right], [0, 0]])


@_with_batch
def resize_with_crop_or_pad(image, target_height, target_width):
    """Return the middle of pictures, or pictures in the middle of zeros, in a size."""
    height, width = as_ints(target_height), as_ints(target_width)
    if height <= 0 or width <= 0:
        raise ValueError(f"target_height and target_width must be > 0. Received: {height}, {width}")
    rows, columns = image.shape[1:3]
    high, wide = min(height, rows), min(width, columns)
    x = crop_to_bounding_box(image, max(-((height - rows) // 2), 0) if height < rows and (rows - height) % 2 == 0
                             else max((rows - height) // 2, 0),
                             max((columns - width) // 2, 0), high, wide)
    return pad_to_bounding_box(x, max((height - rows) // 2, 0), max((width - columns) // 2, 0), height, width)


@_with_batch
def central_crop(image, central_fraction):
    """Return the middle part of pictures."""
    part = float(central_fraction)
    if part <= 0 or part > 1:
        raise ValueError(f"central_fraction must be within (0, 1]. Received: {central_fraction}")
    if part == 1.0:
        return image
    rows, columns = image.shape[1:3]
    top, left = int((rows - rows * part) / 2), int((columns - columns * part) / 2)
    return crop_to_bounding_box(image, top, left, rows - 2 * top, columns - 2 * left)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Return pictures in another dtype: floats between 0 and 1, integers up to their greatest number.

    Parameters
    ----------
    image : Tensor
        The pictures.
    dtype : DType
        The dtype.
    saturate : bool, optional, default=False
        Whether what is beyond the range becomes its end.

    Returns
    -------
    Tensor
        The pictures.

    """
    x, dtype = take(image), as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError(f"dtype must be either floating point or integer. Received: {dtype}")
    if x.dtype is dtype:
        return convert_to_tensor(x)
    if x.dtype.is_integer and dtype.is_integer:
        return _rescale(x, dtype, saturate)
    if x.dtype.is_floating and dtype.is_floating:
        return saturate_cast(x, dtype) if saturate else cast(x, dtype)
    if x.dtype.is_integer:
        return cast(x, dtype) * (1.0 / x.dtype.max)
    scaled = x * (dtype.max + 0.5)
    return saturate_cast(scaled, dtype) if saturate else cast(scaled, dtype)


def _rescale(x, dtype, saturate):
    """Return integers of one range as those of another."""
    if x.dtype.max > dtype.max:
        step = (x.dtype.max + 1) // (dtype.max + 1)
        scaled = ops.floor_divide(x, step)
        return saturate_cast(scaled, dtype) if saturate else cast(scaled, dtype)
    step = (dtype.max + 1) // (x.dtype.max + 1)
    made = saturate_cast(x, dtype) if saturate else cast(x, dtype)
    return made * step


def per_image_standardization(image):
    """Return pictures with mean 0 and variance 1 each."""
    x = take(image)
    if x.ndim < 3:
        raise ValueError(f"'image' must be at least three-dimensional. Received shape {x.shape}")
    x = cast(x, float32)
    count = max(x.shape[-1] * x.shape[-2] * x.shape[-3], 1)
    mean = ops.mean(x, [-1, -2, -3], True)
    spread = ops.sqrt(ops.mean(ops.square(x - mean), [-1, -2, -3], True))
    return (x - mean) / ops.maximum(spread, count ** -0.5)


def _check_patches(x, windows, padding):
    """Raise TensorFlow's errors for what is no batch of pictures, and for windows that make no sense."""
    if x.ndim != 4 or padding not in ("VALID", "SAME"):
        raise invalid_argument("Expected a batch of pictures and padding SAME or VALID. Received: shape "
                               f"{x.shape}, {padding}")
    for numbers in windows:
        if len(numbers) != 4:
            raise invalid_argument(f"sizes, strides and rates must be of 4 numbers. Received: {numbers}")
        if numbers[0] != 1 or numbers[3] != 1:
            raise errors.UnimplementedError(None, None, "Windows extend along rows and columns only. "
                                            f"Received: {numbers}")
        if min(numbers) <= 0:
            raise errors.OutOfRangeError(None, None, "sizes, strides and rates must be positive. "
                                         f"Received: {numbers}")


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Return windows of pictures, each laid out along the last axis.

    Parameters
    ----------
    images : Tensor
        (batch, height, width, channels).
    sizes, strides, rates : Sequence[int]
        [1, rows, columns, 1]: of windows, between windows, and between the pixels of a window.
    padding : str
        "VALID" or "SAME".

    Returns
    -------
    Tensor
        (batch, rows, columns, pixels of a window times channels).

    """
    x = take(images)
    _check_patches(x, (sizes, strides, rates), padding)
    sizes, strides, rates = list(sizes[1:3]), list(strides[1:3]), list(rates[1:3])
    if padding.upper() == "SAME":
        return cut_patches(x, sizes, strides, rates, "same")
    for length, size, step, rate in zip(x.shape[1:3], sizes, strides, rates):
        reach = (size - 1) * rate + 1
        if int((length - reach) / step + 1) < 0:
            raise invalid_argument(f"extract_patches: windows of {reach} pixels do not fit. Received shape {x.shape}")
    return cut_patches(x, sizes, strides, rates, "valid")


def image_gradients(image):
    """Return the differences of rows and of columns, with zeros at the end."""
    x = take(image)
    if x.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}.")
    return (pad(x[:, 1:] - x[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]]),
            pad(x[:, :, 1:] - x[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]]))


def sobel_edges(image):
    """Return the edges of pictures in both directions, along a new last axis: down, then right."""
    framed = pad(take(image), [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    return find_edges(ops.permute(framed, [0, 3, 1, 2]))


def total_variation(images, name=None):
    """Return the sums of absolute differences between neighbours."""
    x = take(images)
    if x.ndim not in (3, 4):
        raise ValueError(f"'images' must be either 3 or 4-dimensional. Received shape {x.shape}")
    if x.dtype.name in ("uint8", "bool"):
        raise invalid_argument(f"total_variation: pictures must be of signed numbers. Received dtype {x.dtype.name}")
    axes = list(range(x.ndim - 3, x.ndim))
    down, right = x[..., 1:, :, :] - x[..., :-1, :, :], x[..., :, 1:, :] - x[..., :, :-1, :]
    return (ops.sum(ops.abs(down), axes, dtype=x.dtype.name)
            + ops.sum(ops.abs(right), axes, dtype=x.dtype.name))


def draw_bounding_boxes(images, boxes, colors, name=None):
    """Return pictures with boxes drawn in: rows of y1, x1, y2, x2 between 0 and 1."""
    import numpy as np
    palette = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
                        [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32)
    x = convert_to_tensor(images)
    if x.ndim != 4:
        raise invalid_argument(f"The rank of the images should be 4. Received shape {x.shape}")
    array, found = x.numpy(), np.asarray(convert_to_tensor(boxes).numpy())
    if found.ndim != 3 or found.shape[-1] != 4:
        raise invalid_argument(f"boxes must be of shape [batch, boxes, 4]. Received: {list(found.shape)}")
    palette = palette if colors is None or not np.size(colors) else convert_to_tensor(colors).numpy()
    rows, columns, channels = array.shape[1:]
    palette = np.ones_like(palette) if channels == 1 else palette
    for picture, own in zip(array, found):
        for number, box in enumerate(own):
            top, left, bottom, right = (box * [rows - 1, columns - 1, rows - 1, columns - 1]).astype(int)
            if top >= rows or bottom < 0 or left >= columns or right < 0 or top > bottom or left > right:
                continue
            color = palette[number % len(palette)][:channels]
            span = slice(max(left, 0), min(right, columns - 1) + 1), slice(max(top, 0), min(bottom, rows - 1) + 1)
            for row in (top, bottom):
                if 0 <= row < rows:
                    picture[row, span[0]] = color
            for column in (left, right):
                if 0 <= column < columns:
                    picture[span[1], column] = color
    return convert_to_tensor(array)
