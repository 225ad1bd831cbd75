"""The operations on images of Pillow."""
import numbers

from dragon.vm.torchvision._pillow import Image, ImageEnhance, ImageOps
from dragon.vm.torchvision._postponed import resize as _resize, waiting

PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def _is_pil_image(img):
    return isinstance(img, Image.Image)


def require(img):
    """Return an image of Pillow, which may wait for what is wanted of it; raise TypeError for anything else."""
    if not _is_pil_image(img):
        raise TypeError(f"img should be PIL Image. Got {type(img)}")
    return waiting(img)


def get_dimensions(img):
    """Return [channels, height, width]."""
    if not _is_pil_image(img):
        raise TypeError(f"Unexpected type {type(img)}")
    return [len(img.getbands()), img.height, img.width]


def get_image_size(img):
    """Return [width, height]."""
    return get_dimensions(img)[:0:-1]


def get_image_num_channels(img):
    """Return the number of channels."""
    return get_dimensions(img)[0]


def hflip(img):
    """Return the image with left and right exchanged."""
    return require(img).transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    """Return the image with top and bottom exchanged."""
    return require(img).transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img, brightness_factor):
    """Return the image mixed with black."""
    return ImageEnhance.Brightness(require(img)).enhance(brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Return the image mixed with its mean grey."""
    return ImageEnhance.Contrast(require(img)).enhance(contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Return the image mixed with its grey form."""
    return ImageEnhance.Color(require(img)).enhance(saturation_factor)


def adjust_sharpness(img, sharpness_factor):
    """Return the image mixed with its blurred form."""
    return ImageEnhance.Sharpness(require(img)).enhance(sharpness_factor)


def adjust_hue(img, hue_factor):
    """Return the image with its hues turned by a share of the circle."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    mode = require(img).mode
    if mode in {"L", "1", "I", "F"}:
        return img
    hue, saturation, value = img.convert("HSV").split()
    turn = int(hue_factor * 255)
    hue = hue.point([(number + turn) % 256 for number in range(256)])
    return Image.merge("HSV", (hue, saturation, value)).convert(mode)


def adjust_gamma(img, gamma, gain=1):
    """Return the image with its values raised to a power."""
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    mode = require(img).mode
    table = [int((255 + 1 - 1e-3) * gain * pow(value / 255.0, gamma)) for value in range(256)] * 3
    return img.convert("RGB").point(table).convert(mode)


def sides_of(padding):
    """Return padding as (left, top, right, bottom)."""
    if isinstance(padding, int):
        return (padding,) * 4
    padding = tuple(padding)
    return padding if len(padding) == 4 else (*padding, *padding) if len(padding) == 2 else padding * 4


def check_padding(padding, fill, padding_mode):
    """Raise what torchvision raises for bad arguments of `pad`."""
    if not isinstance(padding, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if fill is not None and not isinstance(fill, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    if isinstance(padding, (tuple, list)) and len(padding) not in (1, 2, 4):
        raise ValueError("Padding must be an int or a 1, 2, or 4 element tuple, not a "
                         f"{len(padding)} element tuple")
    if padding_mode not in PADDING_MODES:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")


def pad(img, padding, fill=0, padding_mode="constant"):
    """Return the image with a margin; negative margins cut."""
    require(img)
    check_padding(padding, fill, padding_mode)
    palette = img.getpalette() if img.mode == "P" else None
    if padding_mode == "constant":
        padded = ImageOps.expand(img, border=sides_of(padding), fill=_parse_fill(fill, img))
    else:
        padded = _pad_by_pixels(img, sides_of(padding), padding_mode)
    if palette is not None:
        padded.putpalette(palette)
    return padded


def _pad_by_pixels(img, sides, mode):
    import numpy
    left, top, right, bottom = sides
    if min(sides) < 0:
        img = img.crop((-min(left, 0), -min(top, 0), img.width + min(right, 0), img.height + min(bottom, 0)))
        left, top, right, bottom = (max(side, 0) for side in sides)
    pixels = numpy.asarray(img)
    return Image.fromarray(numpy.pad(pixels, ((top, bottom), (left, right), (0, 0))[:pixels.ndim], mode))


def crop(img, top, left, height, width):
    """Return a part of the image; what lies outside is black."""
    return require(img).crop((left, top, left + width, top + height))


def resize(img, size, interpolation=Image.Resampling.BILINEAR):
    """Return the image in another size (height, width)."""
    if not (isinstance(size, list) and len(size) == 2):
        raise TypeError(f"Got inappropriate size arg: {size}")
    return _resize(require(img), tuple(size[::-1]), interpolation)


def _parse_fill(fill, img):
    channels = len(img.getbands())
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)) and channels > 1:
        fill = (fill,) * channels
    if isinstance(fill, (list, tuple)):
        fill = tuple(fill) * channels if len(fill) == 1 else tuple(fill)
        if len(fill) != channels:
            raise ValueError("The number of elements in 'fill' does not match the number of channels of the image "
                             f"({len(fill)} != {channels})")
    if img.mode == "F":
        return fill
    return tuple(int(value) for value in fill) if isinstance(fill, tuple) else int(fill)


def affine(img, matrix, interpolation=Image.Resampling.NEAREST, fill=None):
    """Return the image read at places that a matrix gives."""
    return require(img).transform(img.size, Image.Transform.AFFINE, matrix, interpolation,
                                  fillcolor=_parse_fill(fill, img))


def rotate(img, angle, interpolation=Image.Resampling.NEAREST, expand=False, center=None, fill=None):
    """Return the image turned against the clock."""
    return require(img).rotate(angle, interpolation, expand, center, fillcolor=_parse_fill(fill, img))


def perspective(img, perspective_coeffs, interpolation=Image.Resampling.BICUBIC, fill=None):
    """Return the image read at places that a projection gives."""
    return require(img).transform(img.size, Image.Transform.PERSPECTIVE, perspective_coeffs, interpolation,
                                  fillcolor=_parse_fill(fill, img))


def to_grayscale(img, num_output_channels):
    """Return the image in grey, in 1 or 3 channels."""
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    grey = require(img).convert("L")
    return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))


def invert(img):
    """Return the negative."""
    return ImageOps.invert(require(img))


def posterize(img, bits):
    """Return the image with fewer bits per channel."""
    return ImageOps.posterize(require(img), bits)


def solarize(img, threshold):
    """Return the image with values from a threshold on inverted."""
    return ImageOps.solarize(require(img), threshold)


def autocontrast(img):
    """Return the image stretched from black to white."""
    return ImageOps.autocontrast(require(img))


def equalize(img):
    """Return the image with its histogram flattened."""
    return ImageOps.equalize(require(img))
