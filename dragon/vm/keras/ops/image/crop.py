"""Images with borders added or cut off."""
from dragon.vm.keras.ops.common import operation, ops, tensor
from dragon.vm.keras.ops.image.common import Layout


def _complete(before, after, total, size, names):
    """Return what stands before and after, of which two of three numbers are known; `size` is what total less is."""
    known = [item is not None for item in (before, after, total)]
    if sum(known) != 2:
        given = ", ".join(f"{name}={item}" for name, item in zip(names, (before, after, total)))
        raise ValueError(f"Must specify exactly two of {', '.join(names)}. Received: {given}")
    if before is None:
        before = size(total) - after
    elif after is None:
        after = size(total) - before
    return before, after


def _check(**sizes):
    for name, size in sizes.items():
        if size < 0:
            raise ValueError(f"{name} must be >= 0. Received: {name}={size}")


@operation
def pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None,
               target_height=None, target_width=None, data_format=None):
    """Put zeros around images.

    Parameters
    ----------
    top_padding, left_padding, bottom_padding, right_padding : int, optional
        How many zeros on each side.

    Returns
    -------
    Tensor
        Larger images.

    """
    images = tensor(images)
    layout = Layout(images, data_format)
    x = layout.enter(images)
    height, width = x.shape[1:3]
    top, bottom = _complete(top_padding, bottom_padding, target_height, lambda total: total - height,
                            ("top_padding", "bottom_padding", "target_height"))
    left, right = _complete(left_padding, right_padding, target_width, lambda total: total - width,
                            ("left_padding", "right_padding", "target_width"))
    _check(top_padding=top, left_padding=left, target_height=height + top + bottom, target_width=width + left + right,
           bottom_padding=bottom, right_padding=right)
    return layout.leave(ops.pad(x, [0, 0, left, right, top, bottom]))


@operation
def crop_images(images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None,
                target_height=None, target_width=None, data_format=None):
    """Cut borders off images.

    Parameters
    ----------
    top_cropping, left_cropping, bottom_cropping, right_cropping : int, optional
        How much of each side.

    Returns
    -------
    Tensor
        Smaller images.

    """
    images = tensor(images)
    layout = Layout(images, data_format)
    x = layout.enter(images)
    height, width = x.shape[1:3]
    top, bottom = _complete(top_cropping, bottom_cropping, target_height, lambda total: height - total,
                            ("top_cropping", "bottom_cropping", "target_height"))
    left, right = _complete(left_cropping, right_cropping, target_width, lambda total: width - total,
                            ("left_cropping", "right_cropping", "target_width"))
    _check(top_cropping=top, left_cropping=left, target_height=height - top - bottom,
           target_width=width - left - right)
    x = ops.narrow(x, 1, top, height - top - bottom)
    return layout.leave(ops.narrow(x, 2, left, width - left - right))
