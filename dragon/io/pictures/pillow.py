"""What Pillow does: all formats but JPEG, and JPEG where no libjpeg is found. It is imported when it is needed."""
import warnings

from dragon.core.distribution import install_words
from dragon.io.errors import DataError

MOST_PIXELS = 178956970  # above, Pillow suspects a bomb
MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def pillow(who):
    """Return Pillow's module of images, or say that it is needed."""
    try:
        from PIL import Image
    except ImportError:
        raise ModuleNotFoundError(f"{who}: pictures other than JPEG, and all where no libjpeg is found, are read and "
                                  f"written by Pillow, which is not installed ({install_words('vision')})",
                                  name="PIL") from None
    return Image


def open_picture(file, who, most_pixels=MOST_PIXELS):
    """Return Pillow's picture of a file that is open, its pixels not yet read."""
    image = pillow(who)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", image.DecompressionBombWarning)  # the limit below is ours
            picture = image.open(file)
    except Exception as error:
        raise DataError(f"{who}: got bytes that Pillow does not read: {error}") from None
    if picture.width * picture.height > most_pixels:
        raise DataError(f"{who}: got {picture.width} x {picture.height} pixels, expected at most {most_pixels} of them")
    return picture


def count_frames(picture):
    """Return how many frames a picture has; a ValueError if they have more pixels than one picture may."""
    count = getattr(picture, "n_frames", 1)
    if count * picture.width * picture.height > MOST_PIXELS:
        raise ValueError(f"got {count} frames of {picture.width} x {picture.height} pixels, expected at most "
                         f"{MOST_PIXELS} pixels in all")
    return count


def turned_by_pillow(picture, who):
    """Return a picture as the camera was held."""
    from PIL import ImageOps
    try:
        return ImageOps.exif_transpose(picture)
    except Exception as error:
        raise DataError(f"{who}: got a broken picture: {error}") from None


def read_pixels(picture, channels, region, who, shrink=1):
    """Return the pixels of Pillow's picture as an array [height, width, channels]."""
    import numpy as np
    try:
        if shrink > 1:
            size = -(-picture.width // shrink), -(-picture.height // shrink)
            picture.draft(None, (max(1, picture.width // shrink), max(1, picture.height // shrink)))
            # Pillow shrinks tiny ones less as it reads them.
            picture = picture if picture.size == size else picture.resize(size, pillow(who).BOX)
        if picture.mode in ("I;16", "I;16B", "I;16L", "I"):
            deep = np.asarray(picture)
            picture = pillow(who).fromarray((deep.astype(np.int64).clip(0, 65535) >> 8).astype(np.uint8))
        elif picture.mode in ("P", "PA"):
            picture = picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
        if region is not None:
            top, left, height, width = region
            picture = picture.crop((left, top, left + width, top + height))
        wanted = channels or {"L": 1, "1": 1, "LA": 4, "La": 4, "RGBA": 4, "RGBa": 4}.get(picture.mode, 3)
        array = np.asarray(picture if picture.mode == MODES[wanted] else picture.convert(MODES[wanted]))
    except Exception as error:
        raise DataError(f"{who}: got a broken picture: {error}") from None
    return array[:, :, None] if array.ndim == 2 else array
