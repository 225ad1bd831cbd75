"""`tf.io`: pictures in files as tensors [height, width, channels], and back."""
from dragon.io.pictures import jpeg_library
from dragon.vm.shared.data.rows import wrap_array
from dragon.vm.shared.files.pictures import (as_dtype_of, contents_of, encode, kind_of, open_picture, read_jpeg,
                                             read_jpeg_shape, read_picture, to_array, to_gif_array)
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.written.texts import written


def _decode(contents, channels, who, formats, dtype="uint8"):
    return as_dtype_of(read_picture(contents_of(contents, who), channels, who, formats), dtype, who)


@written("decode_jpeg")
def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                acceptable_fraction=1, dct_method="", name=None):
    """Return a JPEG picture, or one of another format, as a uint8 tensor.

    Parameters
    ----------
    channels : int, optional, default=0
        1 for grey, 3 for colours, 0 for what the file has.
    ratio : int, optional, default=1
        By how much the picture is made smaller while it is decoded: 1, 2, 4 or 8.
    fancy_upscaling : bool, optional, default=True
        Whether colours are smoothed.
    try_recover_truncated : bool, optional, default=False
        Whether a file that is cut off is read as far as it goes.
    acceptable_fraction : float, optional, default=1
        Which part of the rows of a file that is cut off must be there; the others are zeros.
    dct_method : str, optional, default=""
        "INTEGER_ACCURATE", or "INTEGER_FAST", which is what is done by default.

    """
    data = contents_of(contents, "decode_jpeg")
    if kind_of(data) != "JPEG":
        return _decode(contents, channels, "decode_jpeg", ("JPEG", "PNG", "GIF", "BMP"))
    return wrap_array(_read_jpeg(data, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
                                 dct_method, "decode_jpeg"))


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True,
                         try_recover_truncated=False, acceptable_fraction=1, dct_method="", name=None):
    """Return a part of a JPEG picture, which alone is decoded; the window is (top, left, height, width)."""
    window = tuple(int(number) for number in convert_to_tensor(crop_window).numpy())
    return wrap_array(_read_jpeg(contents_of(contents, "decode_and_crop_jpeg"), channels, ratio, fancy_upscaling,
                                 try_recover_truncated, acceptable_fraction, dct_method, "decode_and_crop_jpeg",
                                 window))


def _read_jpeg(data, channels, ratio, fancy, recover, fraction, method, who, window=None):
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"{who}: ratio must be 1, 2, 4 or 8. Received: {ratio}")
    if method not in ("", "INTEGER_ACCURATE", "INTEGER_FAST"):
        raise ValueError(f"{who}: dct_method must be one of '', 'INTEGER_FAST' and 'INTEGER_ACCURATE'. "
                         f"Received: {method!r}")
    if jpeg_library() is None:  # Pillow has one way to decode, which is the exact one
        if not fancy or recover or fraction < 1:
            raise NotImplementedError(f"{who}: Pillow reads whole files and smooths colours, and no libjpeg is found. "
                                      f"Received: fancy_upscaling={fancy}, try_recover_truncated={recover}, "
                                      f"acceptable_fraction={fraction}")
        return read_jpeg(data, channels, who, window, ratio, quick=False)
    return read_jpeg(data, channels, who, window, ratio, bool(fancy), method != "INTEGER_ACCURATE",
                     bool(recover), float(fraction))


@written("decode_png")
def decode_png(contents, channels=0, dtype="uint8", name=None):
    """Return a PNG picture, or one of another format, as a tensor."""
    return _decode(contents, channels, "decode_png", ("JPEG", "PNG", "GIF", "BMP"), dtype)


@written("decode_bmp")
def decode_bmp(contents, channels=0, name=None):
    """Return a BMP picture as a uint8 tensor."""
    return _decode(contents, channels, "decode_bmp", ("BMP",))


def decode_webp(contents, channels=0, dtype="uint8", name=None):
    """Return the frames of a WebP picture as a tensor [frames, height, width, channels]."""
    picture = open_picture(contents_of(contents, "decode_webp"), "decode_webp", ("WEBP",))
    return as_dtype_of(to_array(picture, channels or 4, "decode_webp")[None], dtype, "decode_webp")


def decode_gif(contents, name=None):
    """Return the frames of a GIF picture as a uint8 tensor [frames, height, width, 3]."""
    return wrap_array(to_gif_array(open_picture(contents_of(contents, "decode_gif"), "decode_gif", ("GIF",)),
                                   "decode_gif"))


@written("decode_image")
def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True):
    """Return a BMP, GIF, JPEG or PNG picture as a tensor.

    Parameters
    ----------
    channels : int, optional
        1 for grey, 3 for colours, 4 with opacity; what the file has by default.
    dtype : DType, optional, default=uint8
        uint8, or a float dtype, whose numbers are between 0 and 1.
    expand_animations : bool, optional, default=True
        Whether a GIF picture has a first axis of frames, rather than being its first frame.

    """
    data = contents_of(contents, "decode_image")
    if kind_of(data) != "GIF":
        return as_dtype_of(read_picture(data, channels or 0, "decode_image"), dtype, "decode_image")
    picture = open_picture(data, "decode_image")
    if expand_animations:
        if channels not in (None, 0, 3):
            raise ValueError(f"decode_image: channels must be 0 or 3 for a GIF picture. Received: {channels}")
        return as_dtype_of(to_gif_array(picture, "decode_image"), dtype, "decode_image")
    return as_dtype_of(to_array(picture.convert("RGB"), channels or 0, "decode_image"), dtype, "decode_image")


def encode_jpeg(image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True,
                density_unit="in", x_density=300, y_density=300, xmp_metadata="", name=None):
    """Return a uint8 tensor [height, width, 1 or 3] as the bytes of a JPEG file.

    Parameters
    ----------
    image : Tensor
        The picture.
    format : str, optional, default=""
        "grayscale" or "rgb"; what the channels say by default.
    quality : int, optional, default=95
        From 0 to 100.
    progressive : bool, optional, default=False
        Whether a rough picture comes first in the file.
    optimize_size : bool, optional, default=False
        Whether to spend time on a smaller file.
    chroma_downsampling : bool, optional, default=True
        Whether colours have half the resolution.
    density_unit : str, optional, default="in"
        Only inches are written.
    x_density : int, optional, default=300
        Pixels per unit.
    y_density : int, optional, default=300
        Pixels per unit.
    xmp_metadata : str, optional, default=""
        Not supported.

    """
    image = convert_to_tensor(image)
    if xmp_metadata or density_unit != "in":
        raise NotImplementedError("encode_jpeg: only density_unit='in' without xmp_metadata is supported. Received: "
                                  f"density_unit={density_unit!r}, xmp_metadata={xmp_metadata!r}")
    wanted = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}.get(format)
    if wanted is None or len(image.shape) == 3 and image.shape[-1] not in wanted:
        raise ValueError(f"encode_jpeg: format must be '', 'grayscale' or 'rgb' as the channels are. Received: "
                         f"format={format!r} for shape {image.shape}")
    return encode(image, "JPEG", "encode_jpeg", quality=int(quality), progressive=bool(progressive),
                  optimize=bool(optimize_size), subsampling=2 if chroma_downsampling else 0,
                  dpi=(int(x_density), int(y_density)))


def encode_png(image, compression=-1, name=None):
    """Return a uint8 tensor [..., height, width, channels] as the bytes of PNG files."""
    return encode(image, "PNG", "encode_png", compress_level=6 if int(compression) < 0 else int(compression))


def is_jpeg(contents, name=None):
    """Return whether bytes are those of a JPEG file."""
    return convert_to_tensor(kind_of(contents_of(contents, "is_jpeg")) == "JPEG")


def extract_jpeg_shape(contents, output_type="int32", name=None):
    """Return the height, the width and the channels of a JPEG picture, which is not decoded."""
    return convert_to_tensor(read_jpeg_shape(contents_of(contents, "extract_jpeg_shape"), "extract_jpeg_shape"),
                             dtype=output_type)
