"""Pictures as arrays, and in files; Pillow decodes and encodes them, and is imported when it is needed."""
import io
import pathlib

from dragon.core import warnings
from dragon.core.files import read_whole, save_picture
from dragon.vm.keras.ops.common import canonical_dtype, standard_format
from dragon.vm.shared.files.pictures import pillow
from dragon.vm.shared.letters import expect

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """Return an array as a picture of Pillow's.

    Parameters
    ----------
    dtype : str, optional
        In which dtype; the default floating one by default.

    """
    import numpy as np
    image = pillow("array_to_img")
    data_format = standard_format(data_format)
    x = np.array(x, dtype=canonical_dtype(dtype))
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Received: array with shape {x.shape}")
    x = x.transpose(1, 2, 0) if data_format == "channels_first" else x
    if scale:
        x = x - np.min(x)
        most = np.max(x)
        x = (x / most if most != 0 else x) * 255
    if x.shape[2] not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number. Received: {x.shape[2]}")
    if x.shape[2] > 1:
        return image.fromarray(x.astype("uint8"))
    return image.fromarray(x[:, :, 0].astype("int32" if np.max(x) > 255 else "uint8"))


def img_to_array(img, data_format=None, dtype=None):
    """Return a picture of Pillow's as an array with an axis of channels.

    Parameters
    ----------
    img : PIL.Image.Image
        The picture.

    Returns
    -------
    numpy.ndarray
        The array.

    """
    import numpy as np
    data_format = standard_format(data_format)
    x = np.asarray(img, dtype=canonical_dtype(dtype))
    if x.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape. Received: {x.shape}")
    x = x[:, :, None] if x.ndim == 2 else x
    return x.transpose(2, 0, 1) if data_format == "channels_first" else x


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Write an array to a file as a picture.

    Parameters
    ----------
    path : Union[str, pathlib.Path, file]
        Where.
    x : numpy.ndarray
        One image.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    file_format : str, optional
        Follows from the path by default.
    scale : bool, optional, default=True
        Whether the numbers are scaled to 0 ... 255.
    **kwargs : Any
        Handed on to Pillow.

    """
    if file_format is None and isinstance(path, (str, pathlib.Path)):
        file_format = pathlib.Path(path).suffix[1:].lower()
    if file_format and expect(file_format, str, "save_img", "file_format").lower() == "jpg":
        file_format = "jpeg"
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format == "jpeg":
        warnings.warn("The JPEG format does not support RGBA images, converting to RGB.")
        img = img.convert("RGB")
    save_picture(img, path, file_format, **kwargs)


def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """Read a picture.

    Parameters
    ----------
    path : Union[str, bytes, pathlib.Path, io.BytesIO]
        The file.
    target_size : Tuple[int, int], optional
        Height and width; its own by default.
    interpolation : str, optional, default="nearest"
        "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
    keep_aspect_ratio : bool, optional, default=False
        Cut to the new proportions first.

    """
    image = pillow("load_img")
    if isinstance(path, io.BytesIO):
        img = image.open(path)
    elif isinstance(path, (pathlib.Path, bytes, str)):
        img = image.open(io.BytesIO(read_whole(path)))
    else:
        raise TypeError(f"path should be path-like or io.BytesIO. Received: {type(path)}")
    modes = {"grayscale": ("L", "I;16", "I"), "rgba": ("RGBA",), "rgb": ("RGB",)}
    if color_mode not in modes:
        raise ValueError(f"color_mode must be \"grayscale\", \"rgb\", or \"rgba\". Received: {color_mode}")
    img = img if img.mode in modes[color_mode] else img.convert(modes[color_mode][0])
    if target_size is None or img.size == (target_size[1], target_size[0]):
        return img
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"Invalid interpolation method. Supported methods are {', '.join(INTERPOLATIONS)}. "
                         f"Received: {interpolation}")
    height, width = target_size
    box = _box_of(img.size, width, height) if keep_aspect_ratio else None
    return img.resize((width, height), getattr(image.Resampling, interpolation.upper()), box=box)


def _box_of(size, width, height):
    """Return the middle of a picture that has the proportions of a size: left, top, right, bottom."""
    tall, wide = min(size[1], size[0] * height // width), min(size[0], size[1] * width // height)
    top, left = (size[1] - tall) // 2, (size[0] - wide) // 2
    return [left, top, left + wide, top + tall]


def smart_resize(x, size, interpolation="bilinear", data_format="channels_last", **kwargs):
    """Return images of another size, cut to its proportions first.

    Parameters
    ----------
    x : Union[Tensor, numpy.ndarray]
        One image or a batch.
    interpolation : str, optional, default="bilinear"
        As of `keras.ops.image.resize`.
    data_format : str, optional, default="channels_last"
        "channels_last" or "channels_first".

    Returns
    -------
    Union[Tensor, numpy.ndarray]
        An array for an array.

    """
    import numpy as np

    from dragon.vm.keras.core.convert import convert_to_tensor
    from dragon.vm.keras.core.promotion import cast_to
    from dragon.vm.keras.ops.image.resizing import resize
    kwargs.pop("backend_module", None)
    if kwargs:
        raise TypeError(f"smart_resize() got unexpected keyword arguments. Received: {list(kwargs)}")
    images = convert_to_tensor(x)
    # TensorFlow's interpolation gives float32, whatever it is given; images of the right size stay what they are.
    images = images if interpolation == "nearest" else cast_to(images, "float32")
    made = resize(images, size, interpolation, crop_to_aspect_ratio=True, data_format=data_format)
    return np.array(made) if isinstance(x, np.ndarray) else made
