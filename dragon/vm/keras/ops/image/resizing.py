"""Images of other sizes, and images scaled and moved: every axis is a product with a matrix of weights."""
import math

from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor
from dragon.vm.keras.ops.image.common import Layout, check_choice
from dragon.vm.shared.images.resizing import resize_batch

INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")
METHODS = {**dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), "linear"),
           **dict.fromkeys(("cubic", "bicubic", "tricubic"), "cubic"), "lanczos3": "lanczos3", "lanczos5": "lanczos5"}
MODES = {"linear": "triangle", "cubic": "keys", "lanczos3": "lanczos3", "lanczos5": "lanczos5"}
_NEGLIGIBLE = 1000.0 * 2.0 ** -23
_MOST = 3  # axes that the engine resizes at once


def _triangle(x):
    return ops.clamp(ops.sub(1.0, x), 0.0, None)


def _cubic(x):
    from dragon.io.pictures.filters import keys
    return keys(x, ops.where)


def _lanczos(radius):
    def weigh(x):
        top = ops.mul(ops.mul(ops.sin(ops.mul(x, math.pi)), ops.sin(ops.mul(x, math.pi / radius))), radius)
        bottom = ops.mul(ops.square(x), math.pi ** 2)
        made = ops.where(ops.gt(x, 1e-3), ops.div(top, ops.where(ops.eq(x, 0), 1.0, bottom)), 1.0)
        return ops.where(ops.gt(x, radius), 0.0, made)
    return weigh


_KERNELS = {"linear": _triangle, "cubic": _cubic, "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0)}


def _weights(size, wanted, scale, translation, method, antialias, dtype):
    """Return the share of each old place in each new one: [old, new]."""
    inverse = ops.div(1.0, tensor(scale, dtype))
    spread = ops.maximum(inverse, 1.0) if antialias else 1.0
    middles = ops.mul(ops.add(ops.arange(wanted, dtype=dtype), 0.5), inverse)
    places = ops.sub(ops.sub(middles, ops.mul(tensor(translation, dtype), inverse)), 0.5)
    distance = ops.abs(ops.sub(ops.unsqueeze(places, 0), ops.unsqueeze(ops.arange(size, dtype=dtype), 1)))
    weights = _KERNELS[method](ops.div(distance, spread))
    total = ops.sum(weights, 0, True)
    known = ops.gt(ops.abs(total), _NEGLIGIBLE)
    weights = ops.where(known, ops.div(weights, ops.where(ops.eq(total, 0), 1.0, total)), 0.0)
    inside = ops.logical_and(ops.ge(places, -0.5), ops.le(places, size - 0.5))
    return ops.where(inside, weights, 0.0)


def _weigh(x, output_shape, scale, translation, axes, method, antialias):
    """Return images multiplied by a matrix of weights for each axis, which scales and ways have gradients through."""
    dtype = result_type(dtype_of(scale), dtype_of(translation))
    for place, axis in enumerate(axes):
        weights = _weights(x.shape[axis], output_shape[axis], ops.select(scale, 0, place),
                           ops.select(translation, 0, place), method, antialias, dtype)
        x = ops.moveaxis(ops.tensordot(x, cast_to(weights, dtype_of(x)), [axis], [0]), -1, axis)
    return x


def _place(x, output_shape, scale, translation, axes, method, antialias):
    """Return images that a kernel scales and moves, up to three axes at a time."""
    scale, translation = cast_to(scale, "float32"), cast_to(translation, "float32")
    for first in range(0, len(axes), _MOST):
        part = axes[first:first + _MOST]
        front = [axis for axis in range(x.ndim) if axis not in part]
        moved = ops.permuted(x, [*front, *part])
        sizes = [moved.shape[axis] for axis in range(len(front))]
        if len(front) != 2:
            moved = ops.reshape(moved, (math.prod(sizes), 1, *(x.shape[axis] for axis in part)))
        wanted = [output_shape[axis] for axis in part]
        made = ops.scale_and_translate(moved, *(ops.narrow(numbers, 0, first, len(part))
                                                for numbers in (scale, translation)), wanted, method, antialias)
        made = made if len(front) == 2 else ops.reshape(made, (*sizes, *wanted))
        back = [*front, *part]
        x = ops.permuted(made, [back.index(axis) for axis in range(x.ndim)])
    return x


@operation
def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    """Scale and move images.

    Parameters
    ----------
    images : Tensor
        Numbers of any shape.
    output_shape : Sequence[int]
        The shape of the result.
    scale, translation : Tensor
        One number for each spatial axis.
    spatial_dims : Sequence[int]
        The spatial axes.
    method : str
        "linear", "cubic", "lanczos3" or "lanczos5", or another name of these.

    Returns
    -------
    Tensor
        Of the same dtype.

    """
    check_choice("method", method, METHODS)
    images, scale, translation = tensor(images), tensor(scale), tensor(translation)
    axes = [axis % images.ndim for axis in spatial_dims]
    whole = "int" in dtype_of(images)
    made = cast_to(images, "float32") if whole else images
    slow = (scale.requires_grad or translation.requires_grad or "float64" in (dtype_of(scale), dtype_of(translation))
            or 0 in images.shape or 0 in output_shape)
    if slow:
        made = _weigh(made, output_shape, scale, translation, axes, METHODS[method], antialias)
    else:
        made = _place(made, output_shape, scale, translation, axes, MODES[METHODS[method]], antialias)
    if not whole:
        return made
    made = ops.minimum(ops.maximum(ops.round(made), cast_to(ops.amin(images), "float32")),
                       cast_to(ops.amax(images), "float32"))
    return cast_to(made, dtype_of(images))


def _fit(height, width, size, crop):
    """Return the sizes that a picture of the wanted proportions has, within or around the given ones."""
    choose = min if crop else max
    tall = choose(height, int(width * size[0] / size[1]))
    wide = choose(width, int(height * size[1] / size[0]))
    return (max(tall, 1), max(wide, 1)) if crop else (tall, wide)


def _crop(x, size):
    height, width = x.shape[1:3]
    tall, wide = _fit(height, width, size, True)
    return ops.narrow(ops.narrow(x, 1, (height - tall) // 2, tall), 2, (width - wide) // 2, wide)


def _pad(x, size, value):
    height, width = x.shape[1:3]
    tall, wide = _fit(height, width, size, False)
    above, left = (tall - height) // 2, (wide - width) // 2
    # As much below as above, and as much to the right as to the left: odd rests are dropped.
    return ops.pad(x, [0, 0, left, left, above, above], "constant", value) if above or left else x


def _resample(x, size, interpolation, antialias):
    if tuple(x.shape[1:3]) == size:
        return ops.narrow(x, 1, 0, size[0])  # another tensor, which has not the mask of the first
    return resize_batch(x, *size, interpolation, antialias)


@operation
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Return images of another size.

    Parameters
    ----------
    interpolation : str, optional, default="bilinear"
        "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
    crop_to_aspect_ratio, pad_to_aspect_ratio : bool, optional, default=False
        Cut or fill images to the new proportions first.
    fill_mode : str, optional, default="constant"
        "constant".
    fill_value : float, optional, default=0.0
        What fills.

    Returns
    -------
    Tensor
        In the dtype of `images`.

    """
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    if fill_mode != "constant":
        raise ValueError("Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
                         f"Received: fill_mode={fill_mode}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`. Received: both")
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers. Received: size={size}")
    images, size = tensor(images), tuple(int(item) for item in size)
    if min(size) <= 0:
        raise ValueError(f"`size` must have positive height and width. Received: size={size}")
    layout = Layout(images, data_format)
    x = layout.enter(images)
    if crop_to_aspect_ratio:
        x = _crop(x, size)
    elif pad_to_aspect_ratio:
        x = _pad(x, size, fill_value)
    made, dtype = _resample(x, size, interpolation, antialias), dtype_of(images)
    if "int" in dtype and dtype_of(made) != dtype:
        made = ops.round(made)
        made = ops.clamp(made, 0.0, 255.0) if dtype == "uint8" else made
    return layout.leave(cast_to(made, dtype))
