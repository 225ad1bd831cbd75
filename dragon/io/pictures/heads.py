"""The sizes of pictures, read from the first bytes of their files."""
import io
import struct

from dragon._C import JpegHead
from dragon.io.errors import DataError
from dragon.io.pictures.pillow import open_picture

MAGIC = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"))


def kind_of(data):
    """Return the format that bytes are in: "JPEG", "PNG", "GIF", "BMP", "WEBP", or None."""
    head = bytes(memoryview(data)[:16])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    return next((kind for magic, kind in MAGIC if head.startswith(magic)), None)


def jpeg_head(data, who="read_size"):
    """Return what a JPEG file says of itself."""
    try:
        return JpegHead(data)
    except ValueError as error:
        raise DataError(f"{who}: {error}") from None


def read_size(data):
    """Return the size of a picture, of which nothing but the head is read.

    Parameters
    ----------
    data : Union[bytes, memoryview, numpy.ndarray]
        A file's bytes.

    Returns
    -------
    tuple of int
        Height and width, as the file has them: whether a camera was held upright is not asked.

    """
    kind = kind_of(data)
    if kind == "JPEG":
        head = jpeg_head(data)
        return head.height, head.width
    try:
        if kind == "PNG":
            width, height = struct.unpack_from(">II", data, 16)
        elif kind == "GIF":
            width, height = struct.unpack_from("<HH", data, 6)
        elif kind == "WEBP" and bytes(memoryview(data)[12:16]) == b"VP8X":
            low, high = struct.unpack_from("<II", bytes(memoryview(data)[24:30]) + b"\0\0")
            width, height = (low & 0xFFFFFF) + 1, (low >> 24 | (high & 0xFFFF) << 8) + 1
        else:
            return _size_by_pillow(data)
    except struct.error:
        raise DataError(f"read_size: got {len(data)} bytes of a {kind} file, expected a whole head") from None
    if not (height and width):
        raise DataError(f"read_size: got a {kind} file of {width} x {height} pixels, expected at least one")
    return height, width


def _size_by_pillow(data):
    with open_picture(io.BytesIO(data), "read_size") as picture:
        return picture.size[::-1]
