"""Pictures in files: JPEG is decoded by libjpeg, the others by Pillow, which is imported when one is first met."""
import io

from dragon._C import JpegHead
from dragon.core.distribution import install_words
from dragon.io.errors import DataError
from dragon.io.pictures import decode, jpeg_library, read_size
from dragon.io.pictures.pillow import count_frames
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.tensors.convert import convert_to_tensor

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
CHANNELS = {mode: count for count, mode in MODES.items()}
MAGIC = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"GIF8": "GIF", b"BM": "BMP", b"RIFF": "WEBP"}
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")


def pillow(who):
    """Return Pillow's module of images, or say that it is needed."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"{who}: pictures are decoded and encoded by Pillow, which is not installed "
                          f"({install_words('vision')})") from None
    return Image


def contents_of(value, who):
    """Return the bytes of a scalar tensor of strings."""
    tensor = convert_to_tensor(value)
    if tensor.dtype.name != "string" or len(tensor.shape):
        raise errors.InvalidArgumentError(None, None, f"{who}: contents must be a scalar of dtype string. Received: "
                                          f"shape {list(tensor.shape)} of dtype {tensor.dtype.name}")
    return tensor.numpy()


def kind_of(data):
    """Return the name of the format that bytes are in, or None."""
    return next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)


def open_picture(data, who, formats=FORMATS):
    """Return Pillow's picture of bytes."""
    kind = kind_of(data)
    if kind not in formats:
        raise errors.InvalidArgumentError(
            None, None, f"{who}: Unknown image file format. One of {', '.join(formats)} required. Received: bytes that "
            f"begin with {data[:8]!r}")
    image = pillow(who)
    try:
        picture = image.open(io.BytesIO(data))
        return picture
    except Exception as error:
        raise errors.InvalidArgumentError(
            None, None, f"{who}: Invalid {kind} data, size {len(data)}: {error}") from None


def to_array(picture, channels, who):
    """Return a picture as an array [height, width, channels]."""
    import numpy as np
    if channels not in (0, 1, 2, 3, 4):
        raise errors.InvalidArgumentError(None, None, f"{who}: channels must be 0, 1, 3, or 4. Received: {channels}")
    mode = picture.mode
    if mode.startswith("I;16") or mode == "I":
        picture = picture.point(lambda value: value / 256).convert("L") if mode == "I" else _from_16(picture)
    elif mode == "1":
        picture = picture.convert("L")
    elif mode in ("P", "PA"):
        picture = picture.convert("RGBA" if "transparency" in picture.info or mode == "PA" else "RGB")
    elif mode == "CMYK" or mode not in CHANNELS:
        picture = picture.convert("RGB")
    if channels and CHANNELS[picture.mode] != channels:
        picture = picture.convert(MODES[channels])
    try:
        array = np.array(picture)
    except OSError as error:
        raise errors.InvalidArgumentError(None, None, f"{who}: Invalid data: {error}") from None
    return array[:, :, None] if array.ndim == 2 else array


def _from_16(picture):
    import numpy as np
    from PIL import Image
    return Image.fromarray((np.array(picture).astype(np.uint16) >> 8).astype(np.uint8))


def read_picture(data, channels, who, formats=FORMATS):
    """Return a picture in bytes as an array [height, width, channels]."""
    if kind_of(data) == "JPEG" and "JPEG" in formats and jpeg_library() is not None:
        return read_jpeg(data, channels, who)
    return to_array(open_picture(data, who, formats), channels, who)


def read_jpeg(data, channels, who, window=None, ratio=1, fancy=True, quick=True, recover=False, enough=1.0):
    """Return a JPEG picture, or a part of it, as an array: the numbers are those of TensorFlow.

    Parameters
    ----------
    data : bytes
        The file.
    channels : int
        1, 3, or 0 for those that the file has.
    who : str
        Who speaks.
    window : tuple of int, optional
        (top, left, height, width), in pixels of the smaller picture.
    ratio : int, optional, default=1
        How much smaller the picture is made.
    fancy : bool, optional, default=True
        Whether colours are smoothed.
    quick : bool, optional, default=True
        Whether the cosine transform is the less exact one, as it is by default there.
    recover : bool, optional, default=False
        Whether a file that is cut off is read as far as it goes.
    enough : float, optional, default=1.0
        Which part of its rows will do, the others being zeros.

    Returns
    -------
    numpy.ndarray
        [height, width, channels].

    """
    if channels not in (0, 1, 3):
        raise errors.InvalidArgumentError(None, None, f"{who}: channels must be 0, 1 or 3: JPEG does not support "
                                          f"{channels} channels. Received: {channels}")
    try:
        region = None if window is None else _region_of(window, ratio, read_size(data))
        return decode(data, region, channels, ratio, fancy=fancy, quick=quick, around=False, recover=recover,
                      cut_inks=jpeg_library() is not None, enough=enough)
    except DataError as error:
        raise errors.InvalidArgumentError(
            None, None, f"{who}: Invalid JPEG data or crop window, size {len(data)}: {error}") from None


def read_jpeg_shape(data, who):
    """Return [height, width, channels] of a JPEG picture, of which only the head is read."""
    try:
        head = JpegHead(data)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, f"{who}: Invalid JPEG data, size {len(data)}: {error}") from None
    return [head.height, head.width, head.components]


def _region_of(window, ratio, size):
    """Return a window of a smaller picture as a region of the file's pixels."""
    top, left, height, width = window
    if min(top, left) < 0 or min(height, width) < 1 or top + height > -(-size[0] // ratio) or (
            left + width > -(-size[1] // ratio)):
        raise DataError(f"the window is outside of the picture, of shape {tuple(-(-side // ratio) for side in size)}. "
                        f"Received: {tuple(window)}")
    top, left = top * ratio, left * ratio
    return top, left, min(height * ratio, size[0] - top), min(width * ratio, size[1] - left)


def to_gif_array(picture, who):
    """Return the frames of a picture as an array [frames, height, width, 3]."""
    import numpy as np
    from PIL import ImageSequence
    try:
        count_frames(picture)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, f"{who}: {error}") from None
    return np.stack([np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(picture)])


def as_dtype_of(array, dtype, who):
    """Return an array of bytes as a tensor of a dtype: floats are between 0 and 1."""
    from dragon.vm.shared.tensors.dtypes import as_dtype
    dtype = as_dtype(dtype)
    if dtype.name == "uint8":
        return wrap_array(array)
    if dtype.is_floating:
        return wrap_array((array * (1 / 255)).astype(dtype.as_numpy_dtype))
    raise NotImplementedError(f"{who}: pictures are decoded to uint8 and to floats. Received: dtype={dtype!r}")


def encode(image, kind, who, **options):
    """Return a tensor [..., height, width, channels] of uint8 as files."""
    import numpy as np
    tensor = convert_to_tensor(image)
    if tensor.dtype.name != "uint8":
        if tensor.dtype.name == "uint16":
            raise NotImplementedError(f"{who}: pictures of 16 bits are not encoded")
        raise errors.InvalidArgumentError(None, None, f"{who}: image must be of dtype uint8. "
                                          f"Received: {tensor.dtype.name}")
    array = array_of(tensor)
    allowed = (1, 3) if kind == "JPEG" else (1, 2, 3, 4)
    if array.ndim < 3 or (kind == "JPEG" and array.ndim != 3) or array.shape[-1] not in allowed:
        raise errors.InvalidArgumentError(None, None, f"{who}: image must be of shape [height, width, channels] with "
                                          f"channels in {allowed}. Received: shape {list(array.shape)}")
    module = pillow(who)
    files = np.empty(array.shape[:-3], object)
    for place in np.ndindex(files.shape):
        pixels = array[place]
        picture = module.fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels),
                                   MODES[pixels.shape[2]])
        file = io.BytesIO()
        picture.save(file, kind, **options)
        files[place] = file.getvalue()
    return over_strings(files)
