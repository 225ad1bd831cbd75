"""Images in files and in bytes; Pillow reads and writes the formats."""
import io
import os

from dragon.core import files
from dragon.vm import torch
from dragon.vm.torchvision.io._pixels import decoded, ImageReadMode
from dragon.vm.torchvision.transforms.functional import to_pil_image


class MissingFile(FileNotFoundError, RuntimeError):
    """No file of a name, in the class of Python's files and in that of torchvision's."""


def read_file(path):
    """Return a file's bytes as a tensor."""
    try:
        data = bytearray(files.read_whole(path))
    except FileNotFoundError as error:
        raise MissingFile(*error.args, os.fspath(path)) from None
    return torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def write_file(filename, data):
    """Write a tensor of bytes to a file."""
    if not isinstance(data, torch.Tensor) or data.dtype != torch.uint8 or data.ndim != 1:
        raise RuntimeError("Expected a 1-dimensional tensor of bytes, got "
                           f"{tuple(data.shape) if isinstance(data, torch.Tensor) else type(data).__name__}")
    files.write(filename, data.contiguous().numpy().tobytes())


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
    return decoded(data, mode, apply_exif_orientation, None)


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
    return decoded(input, mode, apply_exif_orientation, ["JPEG"])


def decode_png(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Return an image from the bytes of a PNG file."""
    return decoded(input, mode, apply_exif_orientation, ["PNG"])


def decode_gif(input):
    """Return an image, or the frames (N, C, H, W) of an animation, from the bytes of a GIF file."""
    return decoded(input, ImageReadMode.UNCHANGED, False, ["GIF"])


def decode_webp(input, mode=ImageReadMode.UNCHANGED):
    """Return an image from the bytes of a WebP file."""
    return decoded(input, mode, False, ["WEBP"])


def decode_avif(input, mode=ImageReadMode.UNCHANGED):
    """Return an image from the bytes of an AVIF file."""
    return decoded(input, mode, False, ["AVIF"])


def decode_heic(input, mode=ImageReadMode.UNCHANGED):
    """Refuse: Pillow reads no HEIC files."""
    raise NotImplementedError("decode_heic: Pillow reads no HEIC files; decode_image reads PNG, JPEG, GIF, WebP, AVIF")


def _encoded(input, format, **options):
    if not isinstance(input, torch.Tensor) or input.dtype != torch.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {getattr(input, 'dtype', type(input).__name__)}")
    if input.ndim != 3:
        raise RuntimeError(f"Input data should be a 3-dimensional tensor, got {tuple(input.shape)}")
    if input.shape[0] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {input.shape[0]}")
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
