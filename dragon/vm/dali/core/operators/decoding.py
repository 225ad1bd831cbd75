"""Pictures out of files: whole, or parts of them."""
import io

import numpy as np

from dragon.io.errors import DataError
from dragon.io.pictures import files, geometry
from dragon.io.pictures.heads import kind_of
from dragon.io.pictures.pillow import pillow
from dragon.vm.dali.core.kinds import ANY_DATA, BGR, GRAY, RGB, UINT8, YCbCr, to_numpy_type
from dragon.vm.dali.core.operators.colours import to_colours
from dragon.vm.dali.core.operators.regions import bounds, cut, window
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

ORIENTATION = 0x0112  # the tag of EXIF


def opened(data):
    """Return Pillow's picture of a file's bytes, nothing decoded yet."""
    image = pillow("decoders.image")
    try:
        return image.open(io.BytesIO(data))
    except image.DecompressionBombError as error:
        raise RuntimeError(got("decoders.image", f"a picture too large ({error})", "a smaller one")) from None
    except (OSError, ValueError, SyntaxError):
        raise RuntimeError(got("decoders.image", f"{len(data)} bytes that are no picture",
                               "JPEG, PNG, BMP, TIFF, PNM, WebP or JPEG 2000")) from None


def orientation_of(picture):
    """Return how the camera was held, as a number of EXIF."""
    if picture.format == "JPEG" and "exif" not in picture.info:
        return 1
    number_of = picture.getexif().get(ORIENTATION, 1)
    return number_of if number_of in range(1, 9) else 1


def decode(data, output_type=RGB, adjust_orientation=True, dtype=UINT8):
    """Return the picture in a file's bytes as an array of height, width and channels."""
    array = _by_engine(data, output_type, adjust_orientation)
    array = _by_pillow(data, output_type, adjust_orientation) if array is None else array
    if dtype != UINT8:
        array = _scaled(array, np.dtype(to_numpy_type(dtype)))
    return np.ascontiguousarray(array)


def _by_engine(data, output_type, adjust_orientation):
    """Return the colours of a JPEG file; None of others, and where Pillow may tell what is wrong with it."""
    if output_type not in (RGB, BGR, YCbCr) or kind_of(data) != "JPEG":
        return None
    try:
        return to_colours(files.decode(data, channels=3, upright=bool(adjust_orientation)), RGB, output_type)
    except DataError:
        return None


def _by_pillow(data, output_type, adjust_orientation):
    picture = opened(data)
    if output_type == GRAY and picture.format == "JPEG":
        picture.draft("L", picture.size)  # the file's own luma
    try:
        orientation = orientation_of(picture) if adjust_orientation else 1
        picture.load()
    except (OSError, SyntaxError, ValueError) as error:
        raise RuntimeError(got("decoders.image", f"a broken picture ({error})", "a whole one")) from None
    return files.turn_upright(_channels(picture, output_type), orientation)


def _channels(picture, output_type):
    if output_type == ANY_DATA:
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB") if picture.mode == "P" \
            else picture.convert("L") if picture.mode == "1" else picture
        array = np.asarray(picture)
        array = array if array.dtype == np.uint8 else _narrow(array)
        return array[..., None] if array.ndim == 2 else array
    if output_type == GRAY and picture.mode in ("L", "1"):
        return np.asarray(picture.convert("L"))[..., None]
    if picture.mode.startswith("I;16") or picture.mode == "I":
        array = np.repeat(_narrow(np.asarray(picture))[..., None], 3, -1)
    else:
        array = np.asarray(picture if picture.mode == "RGB" else picture.convert("RGB"))
    return to_colours(array, RGB, output_type)


def _narrow(array):
    """Return numbers of 16 bits in the range of 8."""
    return (array.astype(np.float64) * (255 / 65535) + 0.5).astype(np.uint8)


def _scaled(array, dtype):
    """Return numbers from 0 to 255 in the range of another type: to 1 for floats."""
    if dtype.kind == "f":
        return (array / np.float32(255)).astype(dtype)
    return np.rint(array * (np.iinfo(dtype).max / 255)).astype(dtype)


@operator("decoders.image")
def image(data, *, output_type=RGB, dtype=UINT8, adjust_orientation=True):
    """Decode a picture."""
    return Laid(decode(data.tobytes(), output_type, adjust_orientation, dtype), "HWC")


@operator("decoders.image_crop")
def image_crop(data, *, crop=None, crop_h=0.0, crop_w=0.0, crop_d=0.0, crop_pos_x=0.5, crop_pos_y=0.5, crop_pos_z=0.5,
               rounding="round", output_type=RGB, dtype=UINT8, adjust_orientation=True):
    """Decode a region of a picture, its place told between 0 and 1."""
    picture = decode(data.tobytes(), output_type, adjust_orientation, dtype)
    low, high = window(picture, "HWC", "decoders.image_crop", crop, crop_h, crop_w, crop_d, crop_pos_x, crop_pos_y,
                       crop_pos_z, rounding)
    return Laid(cut(picture, low, high, "error", 0, "decoders.image_crop"), "HWC")


@operator("decoders.image_random_crop")
def image_random_crop(data, *, random_area=(0.08, 1.0), random_aspect_ratio=(3 / 4, 4 / 3), num_attempts=10,
                      output_type=RGB, dtype=UINT8, adjust_orientation=True, seed=None, context):
    """Decode a random region of a picture."""
    picture = decode(data.tobytes(), output_type, adjust_orientation, dtype)
    top, left, height, width = geometry.random_resized_crop(
        picture.shape[:2], context.draws, random_area, random_aspect_ratio, num_attempts)
    return Laid(picture[top:top + height, left:left + width], "HWC")


@operator("decoders.image_slice")
def image_slice(data, anchor=None, shape_in=None, *, start=None, end=None, shape=None, rel_start=None, rel_end=None,
                rel_shape=None, axes=None, axis_names=None, normalized_anchor=True, normalized_shape=True,
                output_type=RGB, dtype=UINT8, adjust_orientation=True):
    """Decode the region of a picture between two places."""
    picture = decode(data.tobytes(), output_type, adjust_orientation, dtype)
    low, high = bounds(picture.shape, "HWC", anchor, shape_in, start, end, shape, rel_start, rel_end, rel_shape, axes,
                       axis_names, normalized_anchor, normalized_shape)
    return Laid(cut(picture, low, high, "error", 0, "decoders.image_slice"), "HWC")


@operator()
def peek_image_shape(data, *, dtype=7, image_type=RGB, adjust_orientation=True):
    """Return the height, width and channels of a picture that is not decoded."""
    picture = opened(data.tobytes())
    width, height = picture.size
    if adjust_orientation and orientation_of(picture) >= 5:
        width, height = height, width
    channels = {GRAY: 1, ANY_DATA: len(picture.getbands())}.get(image_type, 3)
    return Laid(np.array([height, width, channels], to_numpy_type(dtype)), "")


@operator()
def jpeg_compression_distortion(data, *, quality=50):
    """Write a picture as JPEG of some quality and read it again, for the traces that this leaves."""
    if data.dtype != np.uint8 or data.ndim < 3 or data.shape[-1] != 3 or not data.size:
        raise RuntimeError(got("fn.jpeg_compression_distortion", f"{data.dtype} {data.shape}",
                               "bytes of pictures with three channels, the last axis"))
    library, level = pillow("fn.jpeg_compression_distortion"), int(np.ravel(quality)[0])
    if not 1 <= level <= 100:
        raise ValueError(got("fn.jpeg_compression_distortion", f"quality={level}", "1 to 100"))
    frames = data.reshape(-1, *data.shape[-3:])
    made = np.empty_like(frames)
    for frame, result in zip(frames, made):
        file = io.BytesIO()
        library.fromarray(np.ascontiguousarray(frame)).save(file, "JPEG", quality=level, subsampling=2)
        result[...] = np.asarray(library.open(file))
    return made.reshape(data.shape)
