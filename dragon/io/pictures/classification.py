"""From (picture, label, ...) samples to what a network that tells pictures apart takes."""
from dragon.io.errors import DataError
from dragon.io.pictures.batch import Recipe, write_batch
from dragon.io.pictures.colours import random_colours
from dragon.io.pictures.files import decode
from dragon.io.pictures.geometry import Geometry, random_resized_crop, resized_center_crop
from dragon.io.pictures.heads import jpeg_head, kind_of, read_size

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which most weights were trained with
NAMES = "image", "picture", "jpg", "jpeg", "png", "webp"  # of pictures in samples that are dicts
SHORTER = 256 / 224  # what the shorter side is resized to when there is no training, of the size


class ImageClassification:
    """The transform of pictures for classification: random regions and flips in training, the middle otherwise.

    Samples that begin with no picture (texts, sounds) pass as they are.

    Parameters
    ----------
    size : Union[int, tuple of int]
        Height and width of the result.
    train : bool, optional, default=True
        Whether regions, flips and colours are random.
    mean, std : Union[float, tuple of float], optional
        Of values from 0 to 1; those of ImageNet by default. None for values from 0 to 1, or to 255 for uint8.
    layout : str, optional, default="NCHW"
        Or "NHWC".
    dtype : str, optional, default="float32"
        "uint8" (which takes neither mean nor std), "float16" or "float32".
    scale : tuple of float, optional, default=(0.08, 1.0)
        Which part of a picture's area a random region covers.
    ratio : tuple of float, optional, default=(3 / 4, 4 / 3)
        Width over height of a random region.
    flip : float, optional, default=0.5
        How probably left and right are exchanged.
    colours : tuple of float, optional
        How much brightness, contrast, saturation and hue vary.
    shorter : int, optional
        What the shorter side is resized to when there is no training; 8 / 7 of the size by default.
    filter : str, optional, default="bilinear"
        How pictures are resized.
    fast : bool, optional, default=False
        Whether large JPEG files may be decoded to a fraction of their size first.
    picture : Union[int, str], optional
        Where in a tuple, a list or a dict the picture lies. By default first, or under a name that sources give it:
        "image", "picture", "jpg", "jpeg", "png", "webp".
    threads : int, optional, default=1
        How many threads make a batch.
    **settings : Any
        Further ones of `Recipe`: antialias, channels, fill, upright, most_pixels.

    """

    def __init__(self, size, train=True, mean=MEAN, std=STD, layout="NCHW", dtype="float32", scale=(0.08, 1.0),
                 ratio=(3 / 4, 4 / 3), flip=0.5, colours=None, shorter=None, filter="bilinear", fast=False,
                 picture=None, threads=1, **settings):
        if dtype == "uint8" and mean is MEAN and std is STD:
            mean = std = None
        self.recipe = Recipe(size, mean, std, layout, dtype, filter, fast=fast, **settings)
        self.train, self.scale, self.ratio, self.flip, self.colours = train, scale, ratio, flip, colours
        self.shorter = shorter or round(min(self.recipe.height, self.recipe.width) * SHORTER)
        self.picture, self.threads = picture, threads

    def __call__(self, sample, draws=None):
        """Return a sample whose picture is an array of the size.

        Parameters
        ----------
        sample : Union[tuple, list, dict, bytes, numpy.ndarray]
            The picture, and what goes with it.
        draws : dragon.io.draws.Draws, optional
            Random numbers; needed in training.

        Returns
        -------
        Union[tuple, list, dict, numpy.ndarray]
            The same, with another picture in its place.

        """
        import numpy as np
        data = self._picture_of(sample)
        if not is_picture(data):
            return sample
        out = np.empty(self.recipe.shape(1), self.recipe.dtype)
        self._write([data], [draws], out)
        return self._replaced(sample, out[0])

    def batch(self, samples, draws, allocate=None):
        """Return samples as a batch, which is made in one go.

        Parameters
        ----------
        samples : list
            As for a call.
        draws : list of dragon.io.draws.Draws
            Each sample's random numbers.
        allocate : Callable, optional
            Gives so many bytes of writable memory: where the pictures go to.

        Returns
        -------
        Union[tuple, list, dict, numpy.ndarray]
            One sample of arrays, or of lists of what makes no array; a list of the samples where they are no pictures.

        """
        import numpy as np
        pictures = [self._picture_of(sample) for sample in samples]
        if not any(map(is_picture, pictures)):
            return list(samples)
        shape = self.recipe.shape(len(samples))
        if allocate is None:
            out = np.empty(shape, self.recipe.dtype)
        else:
            out = np.frombuffer(allocate(self.recipe.nbytes(len(samples))), np.uint8)[:self.recipe.nbytes(len(samples))]
            out = out.view(self.recipe.dtype).reshape(shape)
        self._write(pictures, draws, out)
        first = samples[0]
        if isinstance(first, dict):
            place = self._place_in(first)
            return {key: out if key == place else stack([sample[key] for sample in samples]) for key in first}
        if isinstance(first, (tuple, list)):
            columns = [list(column) for column in zip(*samples)]
            place = self._place_in(first)
            return type(first)(out if number == place else stack(column) for number, column in enumerate(columns))
        return out

    def _write(self, pictures, draws, out):
        pictures, ways, matrices = list(pictures), [], []
        troubles = {}
        for number, (data, one) in enumerate(zip(pictures, draws)):
            try:
                pictures[number], way, matrix = self._way_of(data, one)
            except DataError as error:
                troubles[number], way, matrix = str(error), Geometry(), None
            ways.append(way)
            matrices.append(matrix)
        if not troubles:
            troubles = dict(write_batch(self.recipe, pictures, ways, matrices, out, self.threads))
        if troubles:
            error = DataError("ImageClassification: " + "; ".join(
                f"sample {number}: {words}" for number, words in sorted(troubles.items())))
            error.places = sorted(troubles)
            raise error

    def _way_of(self, data, draws):
        """Return (data, geometry, matrix) of one picture: what is no JPEG is decoded at once."""
        if not is_picture(data):  # among pictures, where it may be a broken one
            raise DataError(f"picture: got {_words_of(data)}, expected the bytes of a file, or an array of uint8")
        if not hasattr(data, "ndim") or data.ndim == 1:
            turned = self.recipe.upright and kind_of(data) == "JPEG" and jpeg_head(data, "picture").orientation > 1
            if turned or kind_of(data) != "JPEG":
                data = decode(data, None, self.recipe.channels, upright=self.recipe.upright,
                              most_pixels=self.recipe.most_pixels)
        size = data.shape[:2] if hasattr(data, "ndim") and data.ndim > 1 else read_size(data)
        if not (size[0] and size[1]):
            raise DataError(f"picture: got {size[0]} x {size[1]} pixels, expected at least one")
        if not self.train:
            return data, resized_center_crop(size, (self.recipe.height, self.recipe.width), self.shorter,
                                             self.recipe.filter), None
        if draws is None:
            raise ValueError("ImageClassification: got no draws, expected random numbers for training")
        region = random_resized_crop(size, draws, self.scale, self.ratio)
        mirror = bool(self.flip) and draws.uniform(0.0, 1.0) < self.flip
        return data, Geometry(region, mirror=mirror), random_colours(draws, *self.colours) if self.colours else None

    def _place_in(self, sample):
        """Return the key of a dict's picture, or the place of a tuple's; None for a picture that stands alone."""
        if not isinstance(sample, (tuple, list, dict)):
            return None
        if not isinstance(sample, dict):
            return (self.picture or 0) % len(sample)
        if self.picture is not None:
            return self.picture
        key = next((name for name in NAMES if name in sample), None)
        if key is None:
            raise KeyError(f"ImageClassification: got a sample of {list(sample)}, expected one of {list(NAMES)}, or "
                           "picture= with the name of its picture")
        return key

    def _picture_of(self, sample):
        place = self._place_in(sample)
        return sample if place is None else sample[place]

    def _replaced(self, sample, picture):
        if isinstance(sample, dict):
            return {**sample, self._place_in(sample): picture}
        if isinstance(sample, (tuple, list)):
            place = self._place_in(sample)
            return type(sample)(picture if number == place else part for number, part in enumerate(sample))
        return picture


def _words_of(data):
    if hasattr(data, "ndim"):
        return f"{data.dtype} of shape {tuple(data.shape)}"
    return f"bytes that begin with {bytes(data[:8])!r}" if isinstance(data, (bytes, bytearray)) else type(data).__name__


def is_picture(data):
    """Return whether it is an array of a picture, or the bytes of a file that may be one; sounds and texts are none."""
    if hasattr(data, "ndim"):
        return data.dtype.name == "uint8" and (data.ndim in (2, 3) or (data.ndim == 1 and looks_like_picture(data)))
    return isinstance(data, (bytes, bytearray, memoryview)) and looks_like_picture(data)


def looks_like_picture(data):
    """Return whether bytes begin as a file of a picture does; what began as a JPEG and is broken does as well."""
    head = bytes(memoryview(data)[:32])
    return kind_of(head) is not None or head[:4] in (b"II*\0", b"MM\0*") or head[4:12] in (b"ftypavif", b"ftypheic")


def stack(values):
    """Return a column of samples as an array where its elements make one, as the list it is otherwise."""
    import numpy as np
    if all(isinstance(value, (bool, int, float, complex, np.number, np.bool_)) for value in values):
        return np.asarray(values)
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if len(arrays) == len(values) and len({(array.shape, array.dtype) for array in arrays}) == 1:
        return np.stack(arrays)
    return values
