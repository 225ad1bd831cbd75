"""Many pictures into one array, in one call of the engine."""
import functools

from dragon._C import PictureBatch
from dragon.io.errors import DataError
from dragon.io.pictures.files import decode, turn_upright
from dragon.io.pictures.geometry import Geometry, pair
from dragon.io.pictures.heads import jpeg_head, kind_of
from dragon.io.pictures.library import jpeg_library
from dragon.io.pictures.pillow import MOST_PIXELS

WHOLE = Geometry()
LAYOUTS = {"NCHW": True, "NHWC": False}
DTYPES = {"uint8": 1, "float16": 2, "float32": 4}


class Recipe:
    """What all pictures of a batch become; it can be pickled.

    Parameters
    ----------
    size : Union[int, tuple of int]
        Height and width of the result.
    mean, std : Union[float, tuple of float], optional
        Each channel's, of values from 0 to 1. By default values are from 0 to 255 for uint8, from 0 to 1 for floats.
    layout : str, optional, default="NCHW"
        Or "NHWC".
    dtype : str, optional, default="float32"
        "uint8", "float16" or "float32".
    filter : str, optional, default="bilinear"
        "nearest", "box", "bilinear", "hamming", "bicubic" or "lanczos".
    antialias : bool, optional, default=True
        Whether all pixels count where pictures are made smaller.
    channels : int, optional, default=3
        1, 3 or 4.
    fast : bool, optional, default=False
        Whether large JPEG files may be decoded to a half, a quarter or an eighth of their size, as long as what is
        wanted is no larger.
    fill : Union[float, tuple of float], optional, default=0
        From 0 to 255, where a picture does not cover the result.
    upright : bool, optional, default=False
        Whether pictures are turned as the camera was held.
    most_pixels : int, optional
        Pictures of more are refused.

    """

    def __init__(self, size, mean=None, std=None, layout="NCHW", dtype="float32", filter="bilinear", antialias=True,
                 channels=3, fast=False, fill=0, upright=False, most_pixels=MOST_PIXELS):
        self.settings = dict(size=pair(size), mean=mean, std=std, layout=layout, dtype=dtype, filter=filter,
                             antialias=antialias, channels=channels, fast=fast, fill=fill, upright=upright,
                             most_pixels=most_pixels)
        if layout not in LAYOUTS:
            raise ValueError(f"layout: got {layout!r}, expected 'NCHW' or 'NHWC'")
        if dtype not in DTYPES:
            raise ValueError(f"dtype: got {dtype!r}, expected 'uint8', 'float16' or 'float32'")
        self.height, self.width = pair(size)
        self.channels, self.layout, self.dtype, self.upright = channels, layout, dtype, upright
        self.filter, self.most_pixels = filter, most_pixels
        scale, shift = self._line(mean, std, dtype, channels)
        self._batch = PictureBatch((self.height, self.width), channels, LAYOUTS[layout], dtype, filter, bool(antialias),
                                   bool(fast), scale, shift, _four(fill, channels, "fill"), most_pixels)

    def __reduce__(self):
        return _remade, (type(self), self.settings)

    @staticmethod
    def _line(mean, std, dtype, channels):
        """Return what values from 0 to 255 are multiplied by, and what is added then."""
        if mean is None and std is None:
            return [1.0 if dtype == "uint8" else 1 / 255] * 4, [0.0] * 4
        mean = _four(0.0 if mean is None else mean, channels, "mean")
        std = _four(1.0 if std is None else std, channels, "std")
        if not all(std):
            raise ValueError(f"std: got {std[:channels]}, expected no zero")
        if dtype == "uint8":
            raise ValueError("dtype: got 'uint8' together with mean or std, expected 'float16' or 'float32'")
        return [1 / (255 * value) for value in std], [-value / other for value, other in zip(mean, std)]

    def shape(self, count):
        """Return the shape of a batch."""
        sizes = self.height, self.width
        return (count, self.channels, *sizes) if LAYOUTS[self.layout] else (count, *sizes, self.channels)

    def nbytes(self, count):
        """Return how many bytes a batch takes."""
        return count * self._batch.bytes_each

    def prepare(self, data, geometry, matrix=None):
        """Return a sample as the engine takes it: files that are no JPEG, or lie on their side, are decoded before."""
        if _is_file(data):
            is_jpeg = kind_of(data) == "JPEG"
            if is_jpeg and self.upright and (number := jpeg_head(data, "picture").orientation) > 1:
                data = turn_upright(decode(data, None, self.channels, most_pixels=self.most_pixels), number)
            elif not is_jpeg or jpeg_library() is None:
                data = decode(data, None, self.channels, upright=self.upright, most_pixels=self.most_pixels)
        else:
            _check(data)
        return (data, geometry.region, geometry.mirror + 2 * geometry.upside_down, matrix, geometry.box, geometry.place)

    def write(self, samples, out, threads=1):
        """Write samples, as `prepare` gives them, into memory; return {number: what was wrong with it}."""
        return dict(self._batch.write(jpeg_library(), samples, out, threads))


def _remade(kind, settings):
    return kind(**settings)


@functools.lru_cache(maxsize=64)
def kept_recipe(size, **settings):
    """Return the recipe of these settings, which is kept: one call is often like the last one."""
    return Recipe(size, **settings)


def _four(values, channels, name):
    """Return one number per channel, of which four are kept whatever the count."""
    values = [float(values)] * channels if isinstance(values, (int, float)) else [float(value) for value in values]
    if len(values) != channels:
        raise ValueError(f"{name}: got {len(values)} numbers, expected one, or one for each of {channels} channels")
    return values + [1.0 if name == "std" else 0.0] * (4 - channels)


def _is_file(data):
    if isinstance(data, (bytes, bytearray, memoryview)):
        return True
    if not hasattr(data, "ndim"):
        raise TypeError(f"picture: got {type(data).__name__}, expected the bytes of a file, or an array of uint8")
    return data.ndim == 1


def _check(array):
    if array.dtype.name != "uint8" or array.ndim not in (2, 3):
        raise DataError(f"picture: got {array.dtype.name} of shape {tuple(array.shape)}, expected uint8 of "
                        "[height, width] or [height, width, channels], or the bytes of a file")


def make_batch(samples, size, regions=None, flips=None, mean=None, std=None, layout="NCHW", dtype="float32",
               filter="bilinear", out=None, threads=1, errors="raise", matrices=None, **settings):
    """Make one array of many pictures.

    Parameters
    ----------
    samples : Sequence
        Bytes of files, or arrays [height, width, channels] of uint8 at any strides.
    size : Union[int, tuple of int]
        Height and width of the result.
    regions : Sequence, optional
        For each sample (top, left, height, width), a `Geometry`, or None for the whole picture.
    flips : Sequence of bool, optional
        Whether left and right are exchanged.
    mean, std, layout, dtype, filter
        As for `Recipe`, which names further settings.
    out : numpy.ndarray, optional
        Where to write to.
    threads : int, optional, default=1
        How many threads work at once.
    errors : str, optional, default="raise"
        "raise", or "skip": a picture that cannot be read is zeros then, and told of.
    matrices : Sequence, optional
        For each sample the twelve numbers of `colour_matrix`, or None.
    **settings : Any
        Further ones of `Recipe`.

    Returns
    -------
    tuple
        The array, and a list of (number of the sample, what was wrong with it).

    """
    import numpy as np
    if errors not in ("raise", "skip"):
        raise ValueError(f"make_batch: got errors={errors!r}, expected 'raise' or 'skip'")
    count = len(samples)
    for name, given in (("regions", regions), ("flips", flips), ("matrices", matrices)):
        if given is not None and len(given) != count:
            raise ValueError(f"make_batch: got {len(given)} {name} for {count} samples, expected as many")
    recipe = Recipe(size, mean, std, layout, dtype, filter, **settings)
    shape = recipe.shape(count)
    if out is None:
        out = np.empty(shape, dtype)
    elif out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
        raise ValueError(f"make_batch: got out of {out.dtype} and shape {out.shape}, expected contiguous {dtype} of "
                         f"{shape}")
    geometries = [_geometry_of(region) for region in regions or [None] * count]
    if flips is not None:
        geometries = [way._replace(mirror=bool(flip)) for way, flip in zip(geometries, flips)]
    failures = write_batch(recipe, samples, geometries, matrices or [None] * count, out, threads)
    if failures and errors == "raise":
        raise DataError(f"make_batch: sample {failures[0][0]}: {failures[0][1]}")
    return out, failures


def _geometry_of(region):
    if region is None:
        return WHOLE
    return region if isinstance(region, Geometry) else Geometry(tuple(region))


def write_batch(recipe, samples, geometries, matrices, out, threads=1):
    """Write pictures into an array; return [(number, what was wrong)] of those that could not be, which are zeros."""
    failures, prepared, rows = {}, [], []
    for number, sample in enumerate(zip(samples, geometries, matrices)):
        try:
            prepared.append(recipe.prepare(*sample))
            rows.append(number)
        except DataError as error:
            failures[number] = str(error)
    if not failures:
        failures = recipe.write(prepared, out, threads)
    else:
        # Each by itself, so that what cannot be read leaves its row empty and others theirs.
        out[list(failures)] = 0
        for row, sample in zip(rows, prepared):
            for words in recipe.write([sample], out[row:row + 1], threads).values():
                failures[row] = words
    return sorted(failures.items())
