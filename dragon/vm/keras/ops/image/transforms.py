"""Images moved by a transform of their coordinates."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, tensor
from dragon.vm.keras.ops.image.blur import gaussian_blur
from dragon.vm.keras.ops.image.common import Layout, check_choice, like_images
from dragon.vm.keras.ops.image.coordinates import map_coordinates

INTERPOLATIONS = ("nearest", "bilinear")
FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")
TRANSFORM_MODES = ("constant", "nearest", "wrap", "reflect")


def _reflected(place, size):
    """Return a place that turns back at the ends, where the outermost number stands twice."""
    if size <= 1:
        return ops.zeros_like(place)
    period = 2 * size
    below = ops.add(place, ops.mul(ops.trunc(ops.div(ops.neg(place), period)), period))
    below = ops.where(ops.lt(below, -size), ops.add(below, period), ops.sub(ops.neg(below), 1))
    above = ops.sub(place, ops.mul(ops.trunc(ops.div(place, period)), period))
    above = ops.where(ops.ge(above, size), ops.sub(period - 1, above), above)
    return ops.where(ops.lt(place, 0), below, ops.where(ops.gt(place, size - 1), above, place))


def _wrapped(place, size):
    """Return a place that goes on at the other end."""
    if size <= 1:
        return ops.zeros_like(place)
    below = ops.add(place, ops.mul(ops.add(ops.trunc(ops.div(ops.neg(place), size - 1)), 1), size))
    above = ops.sub(place, ops.mul(ops.trunc(ops.div(place, size - 1)), size))
    return ops.where(ops.lt(place, 0), below, ops.where(ops.gt(place, size - 1), above, place))


def _bring_in(place, size, fill_mode):
    if fill_mode == "constant":
        return place
    place = {"reflect": _reflected, "wrap": _wrapped}.get(fill_mode, lambda place, size: place)(place, size)
    return ops.clamp(place, 0, size - 1)


def _read(x, rows, columns, fill_value):
    """Return pixels [batch, y, x, channels] at whole places; those outside are the fill value."""
    batch, height, width = x.shape[:3]
    inside = ops.logical_and(ops.logical_and(ops.ge(rows, 0), ops.lt(rows, height)),
                             ops.logical_and(ops.ge(columns, 0), ops.lt(columns, width)))
    rows, columns = (ops.cast(ops.clamp(place, 0, size - 1), "int64")
                     for place, size in ((rows, height), (columns, width)))
    which = ops.reshape(ops.arange(batch, dtype="int64"), (-1, 1, 1))
    return ops.where(ops.unsqueeze(inside, -1), ops.index(x, [which, rows, columns]), fill_value)


def _project(x, transform, interpolation, fill_mode, fill_value):
    """Return images whose pixels lie where a transform of 8 numbers says."""
    height, width = x.shape[1:3]
    a0, a1, a2, b0, b1, b2, c0, c1 = (ops.reshape(part, (-1, 1, 1)) for part in ops.unbind(transform, -1))
    across = ops.arange(width, dtype="float32")
    down = ops.unsqueeze(ops.arange(height, dtype="float32"), -1)

    def along(first, second, third):
        return ops.add(ops.add(ops.mul(first, across), ops.mul(second, down)), third)
    depth = along(c0, c1, 1.0)
    flat = ops.eq(depth, 0)
    depth = ops.where(flat, 1.0, depth)
    columns = _bring_in(ops.div(along(a0, a1, a2), depth), width, fill_mode)
    rows = _bring_in(ops.div(along(b0, b1, b2), depth), height, fill_mode)
    if interpolation == "nearest":
        made = _read(x, _away(rows), _away(columns), fill_value)
    else:
        top, left = ops.floor(rows), ops.floor(columns)
        down_share, right_share = (ops.unsqueeze(part, -1) for part in (ops.sub(rows, top), ops.sub(columns, left)))
        bottom, right = ops.add(top, 1), ops.add(left, 1)
        lines = []
        for row in (top, bottom):
            first, second = (cast_to(_read(x, row, column, fill_value), "float32") for column in (left, right))
            lines.append(ops.add(ops.mul(ops.sub(1, right_share), first), ops.mul(right_share, second)))
        made = ops.add(ops.mul(ops.sub(1, down_share), lines[0]), ops.mul(down_share, lines[1]))
    made = ops.where(ops.unsqueeze(flat, -1), fill_value, made)
    return cast_to(made, dtype_of(x))


def _away(place):
    """Round halves away from zero."""
    return ops.mul(ops.sign(place), ops.floor(ops.add(ops.abs(place), 0.5)))


@operation
def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0,
                     data_format=None):
    """Move images by a transform of their coordinates.

    Parameters
    ----------
    transform : Tensor
        8 numbers, for all images or each: pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)
        with k = c0 x + c1 y + 1.
    fill_mode : str, optional, default="constant"
        What lies outside: "constant", "nearest", "wrap" or "reflect".

    """
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("fill_mode", fill_mode, TRANSFORM_MODES)
    images, transform = tensor(images), tensor(transform, "float32")
    layout = Layout(images, data_format)
    if transform.ndim not in (1, 2) or transform.shape[-1] != 8:
        raise ValueError("Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms), "
                         f"of 8 numbers. Received input with shape: transform.shape={tuple(transform.shape)}")
    transform = ops.unsqueeze(transform, 0) if transform.ndim == 1 else transform
    return layout.leave(_project(layout.enter(images), transform, interpolation, fill_mode, fill_value))


def _homography(start, end):
    """Return the 8 numbers of the transform that takes four end points to the start points."""
    x, y = ops.unbind(end, -1)
    one, zero = ops.ones_like(x), ops.zeros_like(x)
    rows = []
    for axis, wanted in enumerate(ops.unbind(start, -1)):
        line, none = [x, y, one], [zero, zero, zero]
        bent = [ops.neg(ops.mul(wanted, x)), ops.neg(ops.mul(wanted, y))]
        rows.append(ops.stack([*(line if axis == 0 else none), *(none if axis == 0 else line), *bent], -1))
    matrix = ops.flatten(ops.stack(rows, 2), 1, 2)
    return ops.squeeze(ops.linalg_solve(matrix, ops.unsqueeze(ops.flatten(start, 1, 2), -1)), -1)


@operation
def perspective_transform(images, start_points, end_points, interpolation="bilinear", fill_value=0,
                          data_format=None):
    """Move images so that four points come to lie at others.

    Parameters
    ----------
    start_points, end_points : Tensor
        Four points (x, y), for all images or each.
    fill_value : number, optional, default=0
        What lies outside.

    """
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    images = tensor(images)
    layout = Layout(images, data_format)
    start, end = tensor(start_points, "float32"), tensor(end_points, "float32")
    for name, points in (("start_points", start), ("end_points", end)):
        if points.ndim not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ValueError(f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. "
                             f"Received shape: {tuple(points.shape)}")
    if tuple(start.shape) != tuple(end.shape):
        raise ValueError("start_points and end_points must have the same shape. Received "
                         f"start_points.shape={tuple(start.shape)}, end_points.shape={tuple(end.shape)}")
    start, end = (ops.unsqueeze(points, 0) if points.ndim == 2 else points for points in (start, end))
    return layout.leave(_project(layout.enter(images), _homography(start, end), interpolation, "constant",
                                 fill_value))


@operation
def elastic_transform(images, alpha=20.0, sigma=5.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0,
                      seed=None, data_format=None):
    """Bend images by random, smooth displacements.

    Parameters
    ----------
    alpha, sigma : float, optional
        How strong and how smooth the displacements are.
    seed : Union[int, SeedGenerator], optional
        As of `keras.random.normal`.

    """
    from dragon.vm.keras.random.seed_generator import draw_seed
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("fill_mode", fill_mode, FILL_MODES)
    images = tensor(images)
    layout = Layout(images, data_format)
    x, dtype = layout.enter(images), dtype_of(images)
    batch, height, width, channels = x.shape
    size = 6 * int(sigma) | 1
    # Both directions are drawn with the same seed.
    drawn = ops.mul(ops.stateless_normal(draw_seed(seed), (batch, height, width), dtype=dtype), sigma)
    moved = ops.squeeze(gaussian_blur(ops.unsqueeze(drawn, -1), (size, size), (sigma, sigma), "channels_last"), -1)
    moved = ops.mul(moved, alpha)
    columns = ops.add(ops.arange(width, dtype=dtype), moved)
    rows = ops.add(ops.unsqueeze(ops.arange(height, dtype=dtype), -1), moved)
    order = INTERPOLATIONS.index(interpolation)
    made = [ops.stack([map_coordinates(ops.select(image, -1, channel), ops.stack([row, column]), order, fill_mode,
                                       fill_value) for channel in range(channels)], -1)
            for image, row, column in zip(ops.unbind(x), ops.unbind(rows), ops.unbind(columns))]
    return layout.leave(cast_to(ops.stack(made), dtype))


elastic_transform.operation.compute_output_spec = like_images
