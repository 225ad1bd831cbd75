"""Images in files and in bytes; Pillow reads and writes the formats."""
import io
import os
from enum import Enum

from dragon.core import files
from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image, ImageOps
from dragon.vm.torchvision.transforms.functional import pil_to_tensor, to_pil_image


class ImageReadMode(Enum):
    """The ways to convert an image as it is read."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = 4


_MODES = {ImageReadMode.GRAY: "L", ImageReadMode.GRAY_ALPHA: "LA", ImageReadMode.RGB: "RGB",
          ImageReadMode.RGB_ALPHA: "RGBA"}


def read_file(path):
    """Return a file's bytes as a tensor."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    return torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def write_file(filename, data):
    """Write a tensor of bytes to a file."""
    files.write(filename, _bytes_of(data))


def _bytes_of(data):
    if not isinstance(data, torch.Tensor) or data.dtype != torch.uint8 or data.ndim != 1:
        raise RuntimeError(f"Expected a 1-dimensional tensor of bytes, got "
                           f"{tuple(data.shape) if isinstance(data, torch.Tensor) else type(data).__name__}")
    return data.contiguous().numpy().tobytes()


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Return an image (C, H, W) from a file, a path, or the bytes of one.

    Parameters
    ----------
    input : Union[Tensor, str, Path]
        The bytes, or where they are.
    mode : Union[ImageReadMode, str], optional, default=ImageReadMode.UNCHANGED
        What it is turned into.
    apply_exif_orientation : bool, optional, default=False
        Whether to turn it as the camera says.

    Returns
    -------
    Tensor
        The image; all frames of an animation.

    """
    data = input if isinstance(input, torch.Tensor) else read_file(input)
    return _decoded(data, mode, apply_exif_orientation, None)


def _decoded(data, mode, turn, formats):
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    try:
        image = Image.open(io.BytesIO(_bytes_of(data)), formats=formats)
        image.load()
    except OSError as error:
        raise RuntimeError(f"decode_image: the bytes are no image that Pillow reads: {error}") from error
    frames = getattr(image, "n_frames", 1) if image.format == "GIF" else 1
    if frames > 1:
        return torch.stack([_tensor_of(image, mode, turn, index) for index in range(frames)])
    return _tensor_of(image, mode, turn)


def _tensor_of(image, mode, turn, frame=None):
    if frame is not None:
        image.seek(frame)
    if image.format == "GIF":
        image = image.convert("RGB")
    if turn:
        image = ImageOps.exif_transpose(image)
    if mode is not ImageReadMode.UNCHANGED:
        image = image.convert(_MODES[mode])
    elif image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    pixels = pil_to_tensor(image).contiguous()
    return pixels.to(torch.uint16) if image.mode.startswith("I") else pixels


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Return an image (C, H, W) from a file; see `decode_image`."""
    return decode_image(read_file(path), mode, apply_exif_orientation)


def decode_jpeg(input, mode=ImageReadMode.UNCHANGED, device="cpu", apply_exif_orientation=False):
    """Return an image, or a list of them, from the bytes of JPEG files."""
    if torch.device(device).type != "cpu":
        raise NotImplementedError(f"decode_jpeg: got device {device!r}, expected 'cpu'; Dragon decodes with Pillow")
    if isinstance(input, list):
        if not input:
            raise ValueError("Input list must contain at least one element")
        return [decode_jpeg(item, mode, device, apply_exif_orientation) for item in input]
    return _decoded(input, mode, apply_exif_orientation, ["JPEG"])


def decode_png(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Return an image from the bytes of a PNG file."""
    return _decoded(input, mode, apply_exif_orientation, ["PNG"])


def decode_gif(input):
    """Return an image, or the frames (N, C, H, W) of an animation, from the bytes of a GIF file."""
    return _decoded(input, ImageReadMode.UNCHANGED, False, ["GIF"])


def decode_webp(input, mode=ImageReadMode.UNCHANGED):
    """Return an image from the bytes of a WebP file."""
    return _decoded(input, mode, False, ["WEBP"])


def decode_avif(input, mode=ImageReadMode.UNCHANGED):
    """Return an image from the bytes of an AVIF file."""
    return _decoded(input, mode, False, ["AVIF"])


def decode_heic(input, mode=ImageReadMode.UNCHANGED):
    """Refuse: Pillow reads no HEIC files."""
    raise NotImplementedError("decode_heic: Pillow reads no HEIC files; decode_image reads PNG, JPEG, GIF, WebP, AVIF")


def _encoded(input, format, **options):
    if not isinstance(input, torch.Tensor) or input.dtype != torch.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {getattr(input, 'dtype', type(input).__name__)}")
    if input.ndim != 3 or input.shape[0] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3 of an image (C, H, W), got {tuple(input.shape)}")
    buffer = io.BytesIO()
    to_pil_image(input).save(buffer, format, **options)
    return torch.frombuffer(bytearray(buffer.getvalue()), dtype=torch.uint8)


def encode_png(input, compression_level=6):
    """Return the bytes of a PNG file of an image."""
    if not 0 <= compression_level <= 9:
        raise RuntimeError(f"Compression level should be between 0 and 9, got {compression_level}")
    return _encoded(input, "PNG", compress_level=compression_level)


def write_png(input, filename, compression_level=6):
    """Write an image to a PNG file."""
    write_file(filename, encode_png(input, compression_level))


def encode_jpeg(input, quality=75):
    """Return the bytes of a JPEG file of an image; a list for a list."""
    if quality < 1 or quality > 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    if isinstance(input, list):
        if not input:
            raise ValueError("encode_jpeg requires at least one input tensor when a list is passed")
        return [encode_jpeg(item, quality) for item in input]
    return _encoded(input, "JPEG", quality=quality)


def write_jpeg(input, filename, quality=75):
    """Write an image to a JPEG file."""
    if not os.fspath(filename):
        raise ValueError("write_jpeg: got an empty file name")
    write_file(filename, encode_jpeg(input, quality))
