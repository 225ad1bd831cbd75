"""What bytes of images turn into: the pixels that Pillow reads, in the forms that torchvision gives them."""
import io
from enum import Enum

import numpy

from dragon._C import JpegHead
from dragon.core import warnings
from dragon.io.pictures import decode, jpeg_library, kind_of
from dragon.io.pictures.pillow import count_frames
from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image, ImageChops, ImageOps
from dragon.vm.torchvision.transforms.functional import pil_to_tensor


class ImageReadMode(Enum):
    """The ways to convert an image as it is read."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = 4


_CHANNELS = {ImageReadMode.UNCHANGED: 0, ImageReadMode.GRAY: 1, ImageReadMode.RGB: 3}
_MODES = {ImageReadMode.GRAY: "L", ImageReadMode.GRAY_ALPHA: "LA", ImageReadMode.RGB: "RGB",
          ImageReadMode.RGB_ALPHA: "RGBA"}


def _contents(data):
    """Return the bytes that a tensor holds."""
    if not isinstance(data, torch.Tensor):
        raise RuntimeError(f"decode_image: got {type(data).__name__}, expected a tensor of bytes")
    if data.ndim != 1 or not data.numel():
        raise RuntimeError(f"Input tensor must be 1-dimensional and not empty, got {tuple(data.shape)}")
    if data.dtype != torch.uint8:
        raise RuntimeError(f"Input tensor must have uint8 data type, got {data.dtype}")
    if not data.is_contiguous():
        raise RuntimeError(f"Input tensor must be contiguous, got strides {tuple(data.stride())}")
    return data.cpu().numpy().tobytes()


def decoded(data, mode, turn, formats):
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    contents = _contents(data)
    if formats in (None, ["JPEG"]) and (pixels := _jpeg_pixels(contents, mode, turn)) is not None:
        return pixels
    try:
        image = Image.open(io.BytesIO(contents), formats=formats)
        deep = _deep_pixels(image, contents)
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RuntimeError(_trouble(error, formats)) from error
    if deep is not None:
        return torch.from_numpy(_converted(deep, mode).transpose(2, 0, 1).copy())
    if image.format == "WEBP" and mode in (ImageReadMode.GRAY, ImageReadMode.GRAY_ALPHA):
        warnings.warn("Webp does not support grayscale conversions. The returned tensor will be in the colorspace of "
                      "the original image.")
        mode = ImageReadMode.UNCHANGED
    frames = _count_frames(image)
    if frames > 1:
        return torch.stack([_tensor_of(image, mode, turn, index) for index in range(frames)])
    return _tensor_of(image, mode, turn)


def _count_frames(image):
    if image.format != "GIF":
        return 1
    try:
        return count_frames(image)
    except ValueError as error:
        raise RuntimeError(f"decode_image: {error}") from None


def _jpeg_pixels(contents, mode, turn):
    """Return a JPEG file's pixels, None where Pillow is to read them: what it has inks of, or is to get opacity."""
    channels = _CHANNELS.get(mode)
    if channels is None or kind_of(contents) != "JPEG" or jpeg_library() is None:
        return None
    try:
        if JpegHead(contents).components == 4:
            return None
        pixels = decode(contents, channels=channels, upright=turn)
    except ValueError as error:
        raise RuntimeError(_trouble(error, ["JPEG"])) from error
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def _trouble(error, formats):
    """Return what is wrong with bytes, in the words that are known for it where there are any."""
    letter = f"decode_image: the bytes are no image that can be read: {error}"
    known = {"JPEG": (("truncated", "Image is incomplete or truncated"), ("broken", "Unsupported marker type"),
                      ("identify", "Not a JPEG file")),
             "PNG": (("Truncated", "Out of bound read in decode_png"), ("identify", "Content is not png")),
             "GIF": (("identify", "DGifOpenFileName() failed - 103"),)}
    words = [word for sign, word in known.get((formats or ("",))[0], ()) if sign in str(error)]
    return f"{letter}. {words[0]}" if words else letter


def _deep_pixels(image, contents):
    """Return the pixels (H, W, C) of a PNG of several channels of 16 bits, None for any other image.

    Pillow keeps the upper byte of such a channel. Read as if the lower one stood first, it keeps the other.
    """
    names = {"RGB;16B": "RGB;16L", "RGBA;16B": "RGBA;16L"}
    if image.format != "PNG" or not image.tile or image.tile[0][3] not in names:
        return None
    lower = Image.open(io.BytesIO(contents), formats=["PNG"])
    lower.tile = [(*tile[:3], names[tile[3]]) for tile in lower.tile]
    return numpy.asarray(image).astype("uint16") << 8 | numpy.asarray(lower)


def _converted(pixels, mode):
    """Return pixels (H, W, C) of 16 bits, red, green, blue and perhaps alpha, in another mode."""
    colours, alpha = pixels[..., :3], pixels[..., 3:]
    if mode in (ImageReadMode.GRAY, ImageReadMode.GRAY_ALPHA):
        colours = (colours @ numpy.array([0.299, 0.587, 0.114])).round().astype("uint16")[..., None]
    if mode in (ImageReadMode.GRAY, ImageReadMode.RGB):
        return colours
    if mode is not ImageReadMode.UNCHANGED and not alpha.size:
        alpha = numpy.full_like(colours[..., :1], 0xffff)
    return numpy.concatenate((colours, alpha), -1)


def _tensor_of(image, mode, turn, frame=None):
    if frame is not None:
        image.seek(frame)
    kind = image.format  # which conversions forget
    if kind == "GIF":
        image = image.convert("RGB")
    if turn:
        image = ImageOps.exif_transpose(image)
    if mode is not ImageReadMode.UNCHANGED:
        image = image.convert(_MODES[mode])
    elif image.mode == "CMYK":
        image = ImageChops.invert(image)  # as the file has it
    elif image.mode == "1":
        image = image.convert("L")
    pixels = pil_to_tensor(image)
    if kind == "WEBP":
        return pixels.permute(1, 2, 0).contiguous().permute(2, 0, 1)  # its rows are of pixels, not of planes
    pixels = pixels.contiguous()
    return pixels.to(torch.uint16) if image.mode.startswith("I") else pixels
