"""Resizing as TensorFlow 1 does: pixels are read from the corner on, or with corners aligned."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import raw_ops


class ResizeMethod:
    """The ways of resizing."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = 0, 1, 2, 3


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Return images of another size, between the four nearest pixels.

    Parameters
    ----------
    images : Tensor
        (batch, height, width, channels).
    size : Sequence[int]
        The new height and width.
    align_corners : bool, optional, default=False
        Whether the corners' pixels stay at the corners.
    name : str, optional
        Accepted.
    half_pixel_centers : bool, optional, default=False
        Whether pixels are areas rather than points.

    """
    return raw_ops.ResizeBilinear(images=images, size=size, align_corners=align_corners,
                                  half_pixel_centers=half_pixel_centers)


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Return images of another size, of the nearest pixels; see `resize_bilinear`."""
    return raw_ops.ResizeNearestNeighbor(images=images, size=size, align_corners=align_corners,
                                         half_pixel_centers=half_pixel_centers)


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Return images of another size, between the sixteen nearest pixels; see `resize_bilinear`."""
    return raw_ops.ResizeBicubic(images=images, size=size, align_corners=align_corners,
                                 half_pixel_centers=half_pixel_centers)


def resize_area(images, size, align_corners=False, name=None):
    """Return images of another size, of the means of areas; see `resize_bilinear`."""
    return raw_ops.ResizeArea(images=images, size=size, align_corners=align_corners)


_WAYS = {0: resize_bilinear, 1: resize_nearest_neighbor, 2: resize_bicubic, 3: resize_area}


def resize(images, size, method=0, align_corners=False, preserve_aspect_ratio=False, name=None):
    """Return an image, or a batch of them, of another size.

    Parameters
    ----------
    images : Tensor
        (batch, height, width, channels), or one image without a batch.
    size : Sequence[int]
        The new height and width.
    method : int, optional, default=0
        One of `ResizeMethod`'s, or its name in lower case.
    align_corners : bool, optional, default=False
        Whether the corners' pixels stay at the corners.
    preserve_aspect_ratio : bool, optional, default=False
        Whether the size is a box into which the image is to fit.
    name : str, optional
        Accepted.

    """
    names = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}
    way = _WAYS.get(names.get(method, method) if isinstance(method, str) else int(method))
    if way is None:
        raise ValueError(f"Resize method is not implemented: method={method!r}")
    x = take(images)
    if x.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    batch = x if x.ndim == 4 else ops.unsqueeze(x, 0)
    height, width = (int(one) for one in take(size).numpy())
    if preserve_aspect_ratio:
        scale = min(height / batch.shape[1], width / batch.shape[2])
        height, width = round(scale * batch.shape[1]), round(scale * batch.shape[2])
    if (height, width) == tuple(batch.shape[1:3]):
        return x
    made = way(batch, [height, width], align_corners=align_corners)
    return made if x.ndim == 4 else ops.squeeze(made, 0)


def resize_image_with_pad(image, target_height, target_width, method=0, align_corners=False):
    """Return an image that fits into a box, with zeros on both sides of what is too short."""
    from dragon.vm.tensorflow.image import pad_to_bounding_box
    found = resize(image, [target_height, target_width], method, align_corners, preserve_aspect_ratio=True)
    height, width = found.shape[-3], found.shape[-2]
    return pad_to_bounding_box(found, (target_height - height) // 2, (target_width - width) // 2, target_height,
                               target_width)
