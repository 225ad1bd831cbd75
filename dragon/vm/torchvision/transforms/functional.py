"""Functions on images, of Pillow or tensors."""
import inspect
import numbers
import sys
from enum import Enum

from dragon.core import warnings
from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision._postponed import Postponed, waiting
from dragon.vm.torchvision.transforms import _functional_pil as F_pil, _functional_tensor as F_t
from dragon.vm.torchvision.transforms._functional_pil import _is_pil_image  # noqa: F401
from dragon.vm.torchvision.transforms._arguments import _setup_size
from dragon.vm.torchvision.transforms._functional_tensor import convert_image_dtype as _convert_image_dtype
from dragon.vm.torchvision.transforms._geometry import (inverse_affine_matrix as _get_inverse_affine_matrix,
                                                        perspective_coefficients as _get_perspective_coeffs)
from dragon.vm.torchvision.transforms._scripts import leave_to_python


class InterpolationMode(Enum):
    """How pixels between pixels are made."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


pil_modes_mapping = {InterpolationMode.NEAREST: 0, InterpolationMode.BILINEAR: 2, InterpolationMode.BICUBIC: 3,
                     InterpolationMode.NEAREST_EXACT: 0, InterpolationMode.BOX: 4, InterpolationMode.HAMMING: 5,
                     InterpolationMode.LANCZOS: 1}
_FROM_PILLOW = {number: mode for mode, number in pil_modes_mapping.items()
                if mode is not InterpolationMode.NEAREST_EXACT}


def _interpolation_modes_from_int(i):
    return _FROM_PILLOW[i]


def _mode(interpolation):
    if isinstance(interpolation, int):
        return _FROM_PILLOW[interpolation]
    if not isinstance(interpolation, InterpolationMode):
        raise TypeError("Argument interpolation should be a InterpolationMode or a corresponding Pillow integer "
                        "constant")
    return interpolation


def _either(name, pil_name=None):
    """Return a function that asks Pillow's or the tensors' function of a name, whichever the image calls for."""
    of_tensor, of_pillow = getattr(F_t, name), getattr(F_pil, pil_name or name)

    def call(img, *args, **kwargs):
        if isinstance(img, torch.Tensor):
            return of_tensor(img, *args, **kwargs)
        return of_pillow(img, *args, **kwargs)
    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__signature__ = of_tensor.__doc__, inspect.signature(of_tensor)
    return call


get_dimensions, pad, crop, hflip, vflip = (_either(_name) for _name in "get_dimensions pad crop hflip vflip".split())
adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue, adjust_gamma, adjust_sharpness = (
    _either(f"adjust_{_name}") for _name in "brightness contrast saturation hue gamma sharpness".split())
invert, solarize, autocontrast, equalize = (_either(_name) for _name in "invert solarize autocontrast equalize".split())
_posterize = _either("posterize")
_rgb_to_grayscale = _either("rgb_to_grayscale", "to_grayscale")
get_image_size, get_image_num_channels = _either("get_image_size"), _either("get_image_num_channels")


def _is_numpy(img):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(img, numpy.ndarray)


def _is_numpy_image(img):
    return img.ndim in {2, 3}


def to_tensor(pic):
    """Return an image as a tensor (C, H, W), bytes as floats from 0 to 1."""
    if not (_is_pil_image(pic) or _is_numpy(pic)):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    if _is_numpy(pic):
        if not _is_numpy_image(pic):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pic = pic[:, :, None] if pic.ndim == 2 else pic
        img = torch.from_numpy(pic.transpose((2, 0, 1))).contiguous()
    else:
        img = _channels(pic, {"I": "int32", "I;16": "int16", "I;16B": "int16", "F": "float32"}.get(pic.mode, "uint8"))
        img = (255 * img if pic.mode == "1" else img).contiguous()
    return img.to(torch.get_default_dtype()).div(255) if img.dtype == torch.uint8 else img


def _channels(pic, dtype=None):
    import numpy
    pic = waiting(pic)
    planes = pic.take_pixels(planar=True) if isinstance(pic, Postponed) else None
    if planes is not None:
        return torch.from_numpy(planes)
    pixels = torch.from_numpy(numpy.array(pic, dtype, copy=True))
    return pixels.view(pic.size[1], pic.size[0], len(pic.getbands())).permute((2, 0, 1))


def pil_to_tensor(pic):
    """Return an image of Pillow as a tensor (C, H, W) with its values as they are."""
    if not _is_pil_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return _channels(pic)


@refusing
def convert_image_dtype(image, dtype=torch.float):
    """Return the image as another dtype, with values scaled to its range."""
    if not isinstance(image, torch.Tensor):
        raise TypeError("Input img should be Tensor Image")
    return _convert_image_dtype(image, dtype)


# For each number of channels: the mode by dtype, and the modes that may be asked for.
_MODES = {1: ({"uint8": "L", "int16": "I;16", "int32": "I", "float32": "F"}, None), 2: ({"uint8": "LA"}, ["LA"]),
          3: ({"uint8": "RGB"}, ["RGB", "YCbCr", "HSV"]), 4: ({"uint8": "RGBA"}, ["RGBA", "CMYK", "RGBX"])}


def to_pil_image(pic, mode=None):
    """Return a tensor (C, H, W), or an array (H, W, C), as an image of Pillow."""
    if isinstance(pic, torch.Tensor):
        pic = (pic.permute((1, 2, 0)) if pic.ndim == 3 else pic).numpy(force=True)
    elif not _is_numpy(pic):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    pic = pic[:, :, None] if pic.ndim == 2 else pic
    if pic.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    channels = pic.shape[-1]
    if channels == 0:
        raise ValueError("pic should have 1 to 4 channels. Got none.")
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if pic.dtype.kind == "f" and mode != "F":
        pic = (pic * 255).astype("uint8")
    by_dtype, permitted = _MODES[channels]
    natural = by_dtype.get(str(pic.dtype))
    if channels == 1 and mode is not None and mode != natural:
        raise ValueError(f"Incorrect mode ({mode}) supplied for input type {pic.dtype}. Should be {natural}")
    if permitted and mode is not None and mode not in permitted:
        raise ValueError(f"Only modes {permitted} are supported for {channels}D inputs")
    mode = mode or natural
    if mode is None:
        raise TypeError(f"Input type {pic.dtype} is not supported")
    return _image_from_array(pic[:, :, 0] if channels == 1 else pic, mode)


def _image_from_array(pixels, mode):
    import numpy
    if mode in ("L", "LA", "RGB", "RGBA", "F", "I", "I;16") and mode == _natural_mode(pixels):
        return Image.fromarray(pixels)
    pixels = numpy.ascontiguousarray(pixels)
    return Image.frombuffer(mode, (pixels.shape[1], pixels.shape[0]), pixels.tobytes(), "raw", mode, 0, 1)


def _natural_mode(pixels):
    if pixels.dtype == "int16":
        return None
    return _MODES[pixels.shape[2] if pixels.ndim == 3 else 1][0].get(str(pixels.dtype))


def normalize(tensor, mean, std, inplace=False):
    """Return the image with each channel's mean taken off and divided by its deviation."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    return F_t.normalize(tensor, mean=mean, std=std, inplace=inplace)


def _compute_resized_output_size(image_size, size, max_size=None, allow_size_none=False):
    h, w = image_size
    short, long = (w, h) if w <= h else (h, w)
    if size is not None and len(size) != 1:
        return [size[0], size[1]]
    if h == 0 or w == 0:
        raise ValueError(f"resize: got an image of {h} x {w}, expected one with pixels, whose sides have a ratio")
    if size is None:
        if not isinstance(max_size, int) or not allow_size_none:
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        new_short, new_long = int(max_size * short / long), max_size
    else:
        new_short, new_long = size[0], int(size[0] * long / short)
        if max_size is not None and max_size <= size[0]:
            raise ValueError(f"max_size = {max_size} must be strictly greater than the requested size for the smaller "
                             f"edge size = {size}")
        if max_size is not None and new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if w <= h else [new_short, new_long]


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """Return the image in another size.

    Parameters
    ----------
    img : Union[PIL.Image.Image, Tensor]
        The image.
    size : Union[int, Sequence[int]]
        Height and width, or the length of the shorter side.
    interpolation : InterpolationMode, optional, default=InterpolationMode.BILINEAR
        How pixels are made.
    antialias : bool, optional, default=True
        Whether tensors are smoothed as they shrink; images of Pillow always are.

    Returns
    -------
    Union[PIL.Image.Image, Tensor]
        The image.

    """
    interpolation = _mode(interpolation)
    if isinstance(size, (list, tuple)):
        if len(size) not in (1, 2):
            raise ValueError(f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element "
                             "tuple/list")
        if max_size is not None and len(size) != 1:
            raise ValueError("max_size should only be passed if size specifies the length of the smaller edge, i.e. "
                             "size should be an int or a sequence of length 1 in torchscript mode.")
    before = get_dimensions(img)[1:]
    after = _compute_resized_output_size(before, [size] if isinstance(size, int) else size, max_size)
    if before == after:
        return img
    if isinstance(img, torch.Tensor):
        return F_t.resize(img, size=after, interpolation=interpolation.value, antialias=antialias)
    if antialias is False:
        warnings.warn("Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.")
    return F_pil.resize(img, size=after, interpolation=pil_modes_mapping[interpolation])


def _two(size):
    return tuple(_setup_size(size))


def center_crop(img, output_size):
    """Return the middle of the image; what lies outside is black."""
    height, width = _two(output_size)
    _, image_height, image_width = get_dimensions(img)
    if width > image_width or height > image_height:
        more_w, more_h = max(width - image_width, 0), max(height - image_height, 0)
        img = pad(img, [more_w // 2, more_h // 2, (more_w + 1) // 2, (more_h + 1) // 2], fill=0)
        _, image_height, image_width = get_dimensions(img)
        if (width, height) == (image_width, image_height):
            return img
    return crop(img, int(round((image_height - height) / 2.0)), int(round((image_width - width) / 2.0)), height, width)


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    """Return a part of the image in another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Return the image with four points moved to four others."""
    coeffs, interpolation = _get_perspective_coeffs(startpoints, endpoints), _mode(interpolation)
    if isinstance(img, torch.Tensor):
        return F_t.perspective(img, coeffs, interpolation=interpolation.value, fill=fill)
    return F_pil.perspective(img, coeffs, interpolation=pil_modes_mapping[interpolation], fill=fill)


def five_crop(img, size):
    """Return the four corners and the middle of the image."""
    size = _two(size)
    (_, image_height, image_width), (height, width) = get_dimensions(img), size
    if width > image_width or height > image_height:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(image_height, image_width)}")
    down, across = image_height - height, image_width - width
    corners = ((0, 0), (0, across), (down, 0), (down, across))
    return (*(crop(img, top, left, height, width) for top, left in corners), center_crop(img, [height, width]))


def ten_crop(img, size, vertical_flip=False):
    """Return the four corners and the middle of the image, and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


def _from_middle(img, center):
    if center is None:
        return [0.0, 0.0]
    _, height, width = get_dimensions(img)
    return [1.0 * (place - side * 0.5) for place, side in zip(center, [width, height])]


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """Return the image turned against the clock by an angle in degrees."""
    interpolation = _mode(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    if not isinstance(img, torch.Tensor):
        return F_pil.rotate(img, angle=angle, interpolation=pil_modes_mapping[interpolation], expand=expand,
                            center=center, fill=fill)
    matrix = _get_inverse_affine_matrix(_from_middle(img, center), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    return F_t.rotate(img, matrix=matrix, interpolation=interpolation.value, expand=expand, fill=fill)


def _check_affine(angle, translate, scale, shear, center):
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (numbers.Number, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, numbers.Number) else list(shear)
    shear = shear * 2 if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    return shear


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Return the image turned, shifted, scaled and sheared."""
    interpolation = _mode(interpolation)
    shear = _check_affine(angle, translate, scale, shear, center)
    if isinstance(img, torch.Tensor):
        matrix = _get_inverse_affine_matrix(_from_middle(img, center), float(angle), [1.0 * t for t in translate],
                                            scale, shear)
        return F_t.affine(img, matrix=matrix, interpolation=interpolation.value, fill=fill)
    _, height, width = get_dimensions(img)
    matrix = _get_inverse_affine_matrix(center or [width * 0.5, height * 0.5], float(angle), translate, scale, shear)
    return F_pil.affine(img, matrix=matrix, interpolation=pil_modes_mapping[interpolation], fill=fill)


def to_grayscale(img, num_output_channels=1):
    """Return an image of Pillow in grey."""
    if _is_pil_image(img):
        return F_pil.to_grayscale(img, num_output_channels)
    raise TypeError("Input should be PIL Image")


def rgb_to_grayscale(img, num_output_channels=1):
    """Return the image in grey, in 1 or 3 channels."""
    return _rgb_to_grayscale(img, num_output_channels)


def erase(img, i, j, h, w, v, inplace=False):
    """Return the image with a rectangle overwritten."""
    if not isinstance(img, torch.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    return F_t.erase(img, i, j, h, w, v, inplace=inplace)


def _check_blur(kernel_size, sigma):
    if not isinstance(kernel_size, (int, list, tuple)):
        raise TypeError(f"kernel_size should be int or a sequence of integers. Got {type(kernel_size)}")
    kernel_size = [kernel_size, kernel_size] if isinstance(kernel_size, int) else kernel_size
    if len(kernel_size) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(kernel_size)}")
    if any(size % 2 == 0 or size < 0 for size in kernel_size):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in kernel_size]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    sigma = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else sigma
    sigma = [sigma[0]] * 2 if len(sigma) == 1 else sigma
    if len(sigma) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    if any(value <= 0.0 for value in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return kernel_size, sigma


def through_tensor(function, img):
    """Return what a function of tensors makes of an image of either kind."""
    if isinstance(img, torch.Tensor):
        return function(img)
    if not _is_pil_image(img):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
    return to_pil_image(function(pil_to_tensor(img)), mode=img.mode)


def gaussian_blur(img, kernel_size, sigma=None):
    """Return the image blurred by a bell."""
    kernel_size, sigma = _check_blur(kernel_size, sigma)
    return through_tensor(lambda tensor: F_t.gaussian_blur(tensor, kernel_size, sigma), img)


def posterize(img, bits):
    """Return the image with fewer bits per channel."""
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    return _posterize(img, bits)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Return the image read at places shifted by a displacement (1, H, W, 2)."""
    if isinstance(interpolation, int):
        warnings.warn("Argument interpolation should be of type InterpolationMode instead of int. Please, use "
                      "InterpolationMode enum.")
    interpolation = _mode(interpolation)
    if not isinstance(displacement, torch.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    shape = (1, *get_dimensions(img)[1:], 2)
    if shape != tuple(displacement.shape):
        raise ValueError(f"Argument displacement shape should be {shape}, but given {displacement.shape}")
    return through_tensor(lambda tensor: F_t.elastic_transform(tensor, displacement, interpolation.value, fill), img)


leave_to_python(vars(F_t))
leave_to_python(globals())
