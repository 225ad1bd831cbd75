"""Images moved by a transform of their coordinates."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, tensor
from dragon.vm.keras.ops.image.blur import gaussian_blur
from dragon.vm.keras.ops.image.common import Layout, check_choice, like_images
from dragon.vm.keras.ops.image.coordinates import map_coordinates
from dragon.vm.shared.images.warping import WIDER, project_batch

INTERPOLATIONS = ("nearest", "bilinear")
FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")
TRANSFORM_MODES = ("constant", "nearest", "wrap", "reflect")


def _project(layout, images, transform, interpolation, fill_mode, fill_value):
    """Return images whose pixels lie where rows of eight numbers say."""
    dtype, x = dtype_of(images), layout.enter(images)
    x = cast_to(x, WIDER.get(dtype, dtype))
    made = project_batch(x, transform, x.shape[1:3], interpolation, fill_mode, float(fill_value))
    return layout.leave(cast_to(made, dtype))


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
    return _project(layout, images, transform, interpolation, fill_mode, fill_value)


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
    return _project(layout, images, _homography(start, end), interpolation, "constant", fill_value)


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
