"""One image turned, shifted, sheared or zoomed, as an array; SciPy looks between the pixels."""
import math


def flip_axis(x, axis):
    """Return an array in the opposite order along an axis. ..."""
    import numpy
    return numpy.flip(numpy.asarray(x), axis)


def _scipy_ndimage():
    try:
        from scipy import ndimage
    except ImportError as error:
        raise ImportError("apply_affine_transform: images are turned and moved by SciPy, which is not installed "
                          "(pip install scipy)", name="scipy") from error
    return ndimage


def _matrix(theta, tx, ty, shear, zx, zy):
    """Return the product of what is to be done, or None where that is nothing."""
    import numpy
    turn, slant = math.radians(theta), math.radians(shear)
    steps = [(theta != 0, [[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]]),
             (tx != 0 or ty != 0, [[1, 0, tx], [0, 1, ty], [0, 0, 1]]),
             (shear != 0, [[1, -math.sin(slant), 0], [0, math.cos(slant), 0], [0, 0, 1]]),
             (zx != 1 or zy != 1, [[zx, 0, 0], [0, zy, 0], [0, 0, 1]])]
    wanted = [numpy.array(step, dtype=float) for is_wanted, step in steps if is_wanted]
    made = wanted[0] if wanted else None
    for step in wanted[1:]:
        made = made @ step
    return made


def _about_center(matrix, height, width):
    """Return a matrix that leaves the middle of an image where it is."""
    import numpy
    y, x = height / 2 - 0.5, width / 2 - 0.5
    there, back = numpy.eye(3), numpy.eye(3)
    there[:2, 2], back[:2, 2] = (y, x), (-y, -x)
    return there @ matrix @ back


def apply_affine_transform(x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=1, col_axis=2, channel_axis=0,
                           fill_mode="nearest", cval=0.0, order=1):
    """Return an image that is turned, shifted, sheared and zoomed, all about its middle.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    theta, shear : float, optional, default=0
        In degrees.
    tx, ty : float, optional, default=0
        Over how many rows, and columns.
    zx, zy : float, optional, default=1
        By which factor rows, and columns, are looked at: less than 1 magnifies.
    row_axis, col_axis, channel_axis : int, optional
        Where the axes are; channels are the first or the last one.
    fill_mode : str, optional, default="nearest"
        "nearest", "constant", "reflect" or "wrap": what is beyond the border.
    cval : float, optional, default=0.0
        The constant.
    order : int, optional, default=1
        The degree of the splines between pixels.

    Returns
    -------
    numpy.ndarray
        Of the same shape.

    """
    import numpy
    axes = (row_axis, col_axis, channel_axis)
    if len(set(axes)) != 3:
        raise ValueError("'row_axis', 'col_axis', and 'channel_axis' must be distinct")
    if set(axes) != {0, 1, 2}:
        raise ValueError(f"Invalid axis' indices: {set(axes) - {0, 1, 2}}")
    if x.ndim != 3:
        raise ValueError(f"Input arrays must be multi-channel 2D images. Received: array with shape {x.shape}")
    if channel_axis not in (0, 2):
        raise ValueError("Channels are allowed and the first and last dimensions.")
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    matrix = _about_center(matrix, x.shape[row_axis], x.shape[col_axis])
    if col_axis > row_axis:  # of rows and columns, where SciPy counts axes
        matrix = matrix[[1, 0, 2]][:, [1, 0, 2]]
    moved = [_scipy_ndimage().affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode,
                                               cval=cval) for channel in numpy.rollaxis(x, channel_axis)]
    return numpy.rollaxis(numpy.stack(moved), 0, channel_axis + 1)


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                    interpolation_order=1):
    """Return an image turned by up to some degrees in either direction.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    rg : float
        How many degrees at most.
    row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order : optional
        As of `apply_affine_transform`.

    """
    import numpy
    return apply_affine_transform(x, theta=numpy.random.uniform(-rg, rg), row_axis=row_axis, col_axis=col_axis,
                                  channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Return an image shifted by up to some parts of its width and height.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    wrg, hrg : float
        The largest part of the width, and of the height.
    row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order : optional
        As of `apply_affine_transform`.

    """
    import numpy
    tx = numpy.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = numpy.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Return an image sheared by up to some degrees in either direction.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    intensity : float
        How many degrees at most.
    row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order : optional
        As of `apply_affine_transform`.

    """
    import numpy
    return apply_affine_transform(x, shear=numpy.random.uniform(-intensity, intensity), row_axis=row_axis,
                                  col_axis=col_axis, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval,
                                  order=interpolation_order)


def draw_zoom(zoom_range):
    """Return two factors between two limits, or 1 where both are 1."""
    import numpy
    return (1, 1) if tuple(zoom_range) == (1, 1) else numpy.random.uniform(zoom_range[0], zoom_range[1], 2)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                interpolation_order=1):
    """Return an image zoomed by factors between two limits.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    zoom_range : Tuple[float, float]
        The limits.
    row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order : optional
        As of `apply_affine_transform`.

    """
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = draw_zoom(zoom_range)
    return apply_affine_transform(x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)
