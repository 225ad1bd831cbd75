"""Pictures as bytes of files, and as arrays."""
import io

from dragon.io.errors import DataError
from dragon.io.pictures.heads import jpeg_head, kind_of
from dragon.io.pictures.library import jpeg_library
from dragon.io.pictures.pillow import MODES, MOST_PIXELS, open_picture, pillow, read_pixels, turned_by_pillow

SHRINKS = (1, 2, 4, 8)


def decode(data, region=None, channels=3, shrink=1, upright=False, fancy=True, quick=False, around=True, recover=False,
           cut_inks=False, enough=1.0, most_pixels=MOST_PIXELS):
    """Return the pixels of a picture.

    Parameters
    ----------
    data : Union[bytes, memoryview, numpy.ndarray]
        A file's bytes: JPEG, or what Pillow reads.
    region : tuple of int, optional
        (top, left, height, width): of a JPEG file, no other pixels are computed.
    channels : int, optional, default=3
        1, 3 or 4; 0 for those that the file has, inks and palettes being turned into colours.
    shrink : int, optional, default=1
        2, 4 or 8 for pixels that stand for so many, in both directions, as JPEG files give them at no cost.
    upright : bool, optional, default=False
        Whether to turn the picture as the camera was held; the region is one of the upright picture.
    fancy : bool, optional, default=True
        Whether colours, which JPEG files have fewer of, are interpolated; else they are repeated.
    quick : bool, optional, default=False
        Whether a less exact cosine transform will do.
    around : bool, optional, default=True
        Whether colours at the border of a region are those of the whole picture; else nothing beyond it is looked at.
    recover : bool, optional, default=False
        Whether a JPEG file that is cut off is read as far as it goes.
    cut_inks : bool, optional, default=False
        Whether colours made of a JPEG file's inks are cut to whole numbers, as TensorFlow does, in place of rounded, as
        Pillow does.
    enough : float, optional, default=1.0
        Which part of the rows will do where no more can be read: the others are zeros then.
    most_pixels : int, optional
        More than so many are refused before anything is allocated.

    Returns
    -------
    numpy.ndarray
        [height, width, channels] of uint8.

    """
    if channels not in (0, *MODES):
        raise ValueError(f"decode: got channels={channels!r}, expected 0, 1, 3 or 4")
    if shrink not in SHRINKS:
        raise ValueError(f"decode: got shrink={shrink!r}, expected 1, 2, 4 or 8")
    if kind_of(data) == "JPEG":
        head = jpeg_head(data, "decode")
        if upright and head.orientation > 1:
            whole = decode(data, None, channels, shrink, False, fancy, quick, around, recover, cut_inks, enough,
                           most_pixels)
            return _cut(turn_upright(whole, head.orientation), region, shrink)
        library = jpeg_library()
        if library is not None:
            return _decode_jpeg(library, data, head, region, channels, shrink,
                                (fancy, quick, around, recover, cut_inks, enough), most_pixels)
        if recover or quick or not fancy or cut_inks or enough < 1:
            raise NotImplementedError("decode: got fancy=False, quick=True, recover=True, cut_inks=True or enough < 1 "
                                      "and found no libjpeg, expected one: that of Pillow's wheel, or the system's")
    with open_picture(io.BytesIO(data), "decode", most_pixels) as picture:
        if picture.format != "JPEG" and shrink > 1:
            raise DataError(f"decode: got shrink={shrink} for a {picture.format} file, expected JPEG, which alone can "
                            "be shrunken as it is read")
        if upright:
            picture = turned_by_pillow(picture, "decode")
        if region is not None:
            check_region(region, picture.height, picture.width)
        if shrink > 1:
            return _cut(read_pixels(picture, channels, None, "decode", shrink), region, shrink)
        return read_pixels(picture, channels, region, "decode")


def _decode_jpeg(library, data, head, region, channels, shrink, ways, most_pixels):
    import numpy as np
    if head.width * head.height > most_pixels:
        raise DataError(f"decode: got {head.width} x {head.height} pixels, expected at most {most_pixels} of them")
    top, left, height, width = check_region(region, head.height, head.width)
    channels = channels or (1 if head.components == 1 else 3)
    shape = -(-(top + height) // shrink) - top // shrink, -(-(left + width) // shrink) - left // shrink, channels
    out = np.empty(shape, np.uint8)
    try:
        library.decode(data, out, channels, region, shrink, *ways, most_pixels)
    except (ValueError, NotImplementedError) as error:
        raise DataError(f"decode: {error}") from None
    return out


def check_region(region, height, width):
    """Return a region of a picture of that size, all of it for None."""
    if region is None:
        return 0, 0, height, width
    top, left, rows, columns = region
    if rows < 1 or columns < 1 or top < 0 or left < 0 or top + rows > height or left + columns > width:
        raise ValueError(f"decode: got region={tuple(region)}, expected (top, left, height, width) within "
                         f"{height} x {width} pixels")
    return top, left, rows, columns


def _cut(array, region, shrink):
    if region is None:
        return array
    top, left, height, width = region
    check_region(region, array.shape[0] * shrink, array.shape[1] * shrink)
    return array[top // shrink:-(-(top + height) // shrink), left // shrink:-(-(left + width) // shrink)]


def turn_upright(array, orientation):
    """Return a view of a picture's pixels, turned as EXIF's number from 1 to 8 tells.

    Parameters
    ----------
    array : numpy.ndarray
        [height, width, ...].
    orientation : int
        How the camera was held.

    Returns
    -------
    numpy.ndarray
        The same pixels.

    """
    if orientation >= 5:
        array = array.swapaxes(0, 1)
    upside_down, mirrored = orientation in (3, 4, 7, 8), orientation in (2, 3, 6, 7)
    return array[::-1 if upside_down else 1, ::-1 if mirrored else 1]


def encode(array, kind="JPEG", **options):
    """Return a picture as the bytes of a file.

    Parameters
    ----------
    array : numpy.ndarray
        [height, width] or [height, width, 1, 3 or 4] of uint8.
    kind : str, optional, default="JPEG"
        The format, as Pillow names it.
    **options : Any
        Handed on to Pillow: `quality`, `subsampling`, `progressive`, `compress_level`, ...

    Returns
    -------
    bytes
        The file.

    """
    import numpy as np
    array = np.asarray(array)
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or channels not in MODES or not array.size:
        raise ValueError(f"encode: got {array.dtype} of shape {array.shape}, expected uint8 of [height, width] or "
                         "[height, width, 1, 3 or 4]")
    pixels = np.ascontiguousarray(array[:, :, 0] if array.ndim == 3 and channels == 1 else array)
    file = io.BytesIO()
    try:
        pillow("encode").fromarray(pixels, MODES[channels]).save(file, kind, **options)
    except (OSError, KeyError) as error:
        raise ValueError(f"encode: got {channels} channels for a {kind} file: {error}") from None
    return file.getvalue()
