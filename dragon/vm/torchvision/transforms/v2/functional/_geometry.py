"""Flips, sizes, parts and warps: of images, masks, boxes and keypoints."""
import functools

from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1
from dragon.vm.torchvision.transforms.functional import InterpolationMode
from dragon.vm.torchvision.transforms.v2.functional import _boxes, _points
from dragon.vm.torchvision.transforms.v2.functional._boxes import *  # noqa: F401,F403
from dragon.vm.torchvision.transforms.v2.functional._moves import perspective_coefficients, sizes_after
from dragon.vm.torchvision.transforms.v2.functional._points import *  # noqa: F401,F403
from dragon.vm.torchvision.transforms.v2.functional._turned import (  # noqa: F401
    rectangles as _parallelogram_to_bounding_boxes)
from dragon.vm.torchvision.transforms.v2.functional._utils import (
    as_batch, as_image, check_interpolation, functional, of_mask)

_get_perspective_coeffs = F1._get_perspective_coeffs
BILINEAR, NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST
_NEAREST = (NEAREST, InterpolationMode.NEAREST_EXACT)


def horizontal_flip_image(image):
    """Return the image with left and right exchanged."""
    return image.flip(-1)


def vertical_flip_image(image):
    """Return the image with top and bottom exchanged."""
    return image.flip(-2)


def resize_image(image, size, interpolation=BILINEAR, max_size=None, antialias=True):
    """Return the image in another size."""
    interpolation, before = check_interpolation(interpolation), list(image.shape[-2:])
    if interpolation is InterpolationMode.LANCZOS and not antialias:
        raise ValueError("InterpolationMode.LANCZOS requires antialias=True")
    after = sizes_after(before, size, max_size)
    if after == before:
        return image
    if image.numel() == 0:
        return image.reshape(*image.shape[:-2], *after)

    def change(batch):
        return torch.nn.functional.interpolate(
            batch, after, mode=interpolation.value, align_corners=False if smooth else None,
            antialias=bool(antialias) and smooth)
    smooth = interpolation in (BILINEAR, InterpolationMode.BICUBIC, InterpolationMode.LANCZOS)
    if image.dtype in F_t.FLOATS or image.dtype == torch.uint8 and (smooth or interpolation in _NEAREST):
        return as_image(image, functools.partial(as_batch, change))
    made = as_image(image.to(torch.float32), functools.partial(as_batch, change))
    whole = not image.is_floating_point() and image.dtype != torch.bool
    return (made.round() if whole else made).to(image.dtype)


def _resize_image_pil(image, size, interpolation=BILINEAR, max_size=None, antialias=True):
    before = [image.height, image.width]
    after = sizes_after(before, size, max_size)
    return F1.resize(image, after, check_interpolation(interpolation), antialias=antialias)


def pad_image(image, padding, fill=None, padding_mode="constant"):
    """Return the image with a margin."""
    left, right, top, bottom = F_t._parse_pad_padding(padding)
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)) or len(fill) == 1:
        value = fill if isinstance(fill, (int, float)) else fill[0]
        return as_batch(lambda batch: F_t.pad(batch, padding, value, padding_mode), image)
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar")
    output = as_batch(lambda batch: F_t.pad(batch, padding, 0, "constant"), image)
    colour = torch.tensor(fill).to(image.dtype).reshape(-1, 1, 1)
    height, width = output.shape[-2:]
    rows, columns = torch.arange(height).reshape(-1, 1), torch.arange(width)
    margin = (rows < top) | (rows >= height - bottom) | (columns < left) | (columns >= width - right)
    return torch.where(margin, colour, output)


def pad_mask(mask, padding, fill=None, padding_mode="constant"):
    """Return the mask with a margin."""
    if isinstance(fill, (tuple, list)):
        raise ValueError("Non-scalar fill value is not supported")
    return as_image(mask, lambda image: pad_image(image, padding, fill, padding_mode))


def crop_image(image, top, left, height, width):
    """Return a part of the image; what lies outside is zero."""
    return as_batch(lambda batch: F_t.crop(batch, top, left, height, width), image)


def center_crop_image(image, output_size):
    """Return the middle of the image; what lies outside is zero."""
    return as_batch(lambda batch: F1.center_crop(batch, output_size), image)


def resized_crop_image(image, top, left, height, width, size, interpolation=BILINEAR, antialias=True):
    """Return a part of the image in another size."""
    return resize_image(crop_image(image, top, left, height, width), size, interpolation, antialias=antialias)


def _resized_crop_image_pil(image, top, left, height, width, size, interpolation=BILINEAR, antialias=True):
    return _resize_image_pil(F1.crop(image, top, left, height, width), size, interpolation, antialias=antialias)


def affine_image(image, angle, translate, scale, shear, interpolation=NEAREST, fill=None, center=None):
    """Return the image turned, shifted, scaled and sheared."""
    def warp(batch):
        return F1.affine(batch, angle, translate, scale, shear, check_interpolation(interpolation), fill, center)
    return as_batch(warp, image)


def _affine_image_pil(image, angle, translate, scale, shear, interpolation=NEAREST, fill=None, center=None):
    return F1.affine(image, angle, translate, scale, shear, check_interpolation(interpolation), fill, center)


@refusing
def rotate_image(image, angle, interpolation=NEAREST, expand=False, center=None, fill=None):
    """Return the image turned against the clock by an angle in degrees."""
    angle = angle % 360
    turns = {0: 0, 180: 2}
    if expand or image.shape[-1] == image.shape[-2]:
        turns.update({90: 1, 270: 3})
    if center is None and angle in turns:
        return torch.rot90(image, k=turns[angle], dims=(-2, -1)) if angle else image.clone()

    def warp(batch):
        return F1.rotate(batch, angle, check_interpolation(interpolation), expand, center, fill)
    return as_batch(warp, image)


def _rotate_image_pil(image, angle, interpolation=NEAREST, expand=False, center=None, fill=None):
    return F1.rotate(image, angle, check_interpolation(interpolation), expand, center, fill)


def perspective_image(image, startpoints, endpoints, interpolation=BILINEAR, fill=None, coefficients=None):
    """Return the image with four points moved to four others, or projected by coefficients."""
    coeffs, mode = perspective_coefficients(startpoints, endpoints, coefficients), check_interpolation(interpolation)
    return as_batch(lambda batch: F_t.perspective(batch, coeffs, mode.value, fill), image)


def _perspective_image_pil(image, startpoints, endpoints, interpolation=BILINEAR, fill=None, coefficients=None):
    coeffs, mode = perspective_coefficients(startpoints, endpoints, coefficients), check_interpolation(interpolation)
    return F1.F_pil.perspective(image, coeffs, interpolation=F1.pil_modes_mapping[mode], fill=fill)


def elastic_image(image, displacement, interpolation=BILINEAR, fill=None):
    """Return the image read at places shifted by a displacement (1, H, W, 2)."""
    if not isinstance(displacement, torch.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    expected = (1, *image.shape[-2:], 2)
    if expected != tuple(displacement.shape):
        raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")
    mode = check_interpolation(interpolation)
    return as_batch(lambda batch: F_t.elastic_transform(batch, displacement, mode.value, fill), image)


def _elastic_image_pil(image, displacement, interpolation=BILINEAR, fill=None):
    return F1.through_tensor(lambda tensor: elastic_image(tensor, displacement, interpolation, fill), image)


def five_crop_image(image, size):
    """Return the four corners and the middle of the image."""
    return F1.five_crop(image, size)


def ten_crop_image(image, size, vertical_flip=False):
    """Return the four corners and the middle of the image, and of its mirror image."""
    return F1.ten_crop(image, size, vertical_flip)


def resize_mask(mask, size, interpolation=BILINEAR, max_size=None):
    """Return the mask in another size; its pixels are never mixed."""
    mode = check_interpolation(interpolation)
    mode = mode if mode in (NEAREST, InterpolationMode.NEAREST_EXACT) else NEAREST
    return as_image(mask, lambda image: resize_image(image, size, mode, max_size))


horizontal_flip_mask = of_mask("horizontal_flip", horizontal_flip_image)
vertical_flip_mask = of_mask("vertical_flip", vertical_flip_image)
crop_mask, center_crop_mask = of_mask("crop", crop_image), of_mask("center_crop", center_crop_image)
resized_crop_mask = of_mask("resized_crop", resized_crop_image, interpolation=NEAREST, antialias=True)
affine_mask, rotate_mask = (of_mask(name, kernel, interpolation=NEAREST)
                            for name, kernel in (("affine", affine_image), ("rotate", rotate_image)))
perspective_mask, elastic_mask = (of_mask(name, kernel, interpolation=NEAREST)
                                  for name, kernel in (("perspective", perspective_image), ("elastic", elastic_image)))


def _functional(name):
    """Return the function of all kinds of inputs that has a name, of the functions of one kind each."""
    boxes, points = getattr(_boxes, f"{name}_bounding_boxes"), getattr(_points, f"{name}_keypoints")
    image, pillow, mask = (globals()[form.format(name)] for form in ("{}_image", "_{}_image_pil", "{}_mask"))
    return functional(name, image, pillow, mask, boxes, points)


_horizontal_flip_image_pil, _vertical_flip_image_pil = F1.hflip, F1.vflip
_pad_image_pil, _crop_image_pil, _center_crop_image_pil = F1.pad, F1.crop, F1.center_crop
_five_crop_image_pil, _ten_crop_image_pil = F1.five_crop, F1.ten_crop
horizontal_flip, vertical_flip = _functional("horizontal_flip"), _functional("vertical_flip")
hflip, vflip = horizontal_flip, vertical_flip
resize, pad, crop = _functional("resize"), _functional("pad"), _functional("crop")
center_crop = _functional("center_crop")
resized_crop = _functional("resized_crop")
affine, rotate = _functional("affine"), _functional("rotate")
perspective, elastic = _functional("perspective"), _functional("elastic")
elastic_transform = elastic
five_crop = functional("five_crop", five_crop_image, _five_crop_image_pil, several=True)
ten_crop = functional("ten_crop", ten_crop_image, _ten_crop_image_pil, several=True)
