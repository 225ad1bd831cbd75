"""Batches of images, without end, in an order that changes with each round."""
import os
import threading

from dragon.core import warnings
from dragon.core.files import save_picture
from dragon.vm.keras.core.config import floatx, image_data_format
from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset
from dragon.vm.keras.utils.image import array_to_img

SUBSETS = ("training", "validation")


class Iterator(PyDataset):
    """Base of what makes batches of images; a subclass writes `_get_batches_of_transformed_samples`.

    Parameters
    ----------
    n : int
        How many images there are.
    batch_size : int
        How many a batch has.
    shuffle : bool
        Whether their order changes between rounds.
    seed : Optional[int]
        Of the shuffle.
    **kwargs : Any
        Of `PyDataset`.

    """

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n, batch_size, shuffle, seed, **kwargs):
        super().__init__(**kwargs)
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None
        self.index_generator = self._flow_index()

    def _set_index_array(self):
        import numpy
        self.index_array = numpy.random.permutation(self.n) if self.shuffle else numpy.arange(self.n)

    def _sow(self):
        import numpy
        if self.seed is not None:
            numpy.random.seed(self.seed + self.total_batches_seen)

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._sow()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(
            self.index_array[self.batch_size * idx:self.batch_size * (idx + 1)])

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        """Change the order."""
        self._set_index_array()

    def reset(self):
        """Begin a round with the next batch."""
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            self._sow()
            if self.batch_index == 0:
                self._set_index_array()
            first = self.batch_index * self.batch_size % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
            self.total_batches_seen += 1
            yield self.index_array[first:first + self.batch_size]

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            index_array = next(self.index_generator)
        return self._get_batches_of_transformed_samples(index_array)

    def _get_batches_of_transformed_samples(self, index_array):
        """Return the batch of the images with these numbers; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: expected a `_get_batches_of_transformed_samples` that "
                                  f"returns a batch. Received: index_array={index_array}")

    def _save(self, batch, index_array, most):
        """Write a batch as pictures into the folder that was named, if one was."""
        import numpy
        for image, index in zip(batch, index_array if self.save_to_dir else ()):
            name = f"{self.save_prefix}_{index}_{numpy.random.randint(most)}.{self.save_format}"
            save_picture(array_to_img(image, self.data_format, scale=True), os.path.join(self.save_to_dir, name))


def check_subset(subset):
    """Raise unless a subset is one of the two that there are."""
    if subset not in SUBSETS:
        raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')


class NumpyArrayIterator(Iterator):
    """Batches of images that are an array.

    Parameters
    ----------
    x : Union[numpy.ndarray, Tuple[numpy.ndarray, Union[numpy.ndarray, List[numpy.ndarray]]]]
        The images, and what else is cut into batches along with them.
    y : Optional[numpy.ndarray]
        Labels.
    image_data_generator : ImageDataGenerator
        What changes them.
    batch_size, shuffle, seed : optional
        As of `Iterator`.
    sample_weight : numpy.ndarray, optional
        Weights.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    save_to_dir, save_prefix, save_format : str, optional
        Where changed images are written to, and how.
    subset : str, optional
        "training" or "validation", where the generator splits.
    ignore_class_split : bool, optional, default=False
        Allow that both have other classes.
    dtype : str, optional
        Of the batches; the configured one by default.

    """

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None,
                 data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 ignore_class_split=False, dtype=None):
        import numpy
        self.dtype, self.data_format = dtype or floatx(), data_format or image_data_format()
        x, more = (x[0], x[1] if isinstance(x[1], list) else [x[1]]) if isinstance(x, (tuple, list)) else (x, [])
        more = [numpy.asarray(other) for other in more]
        for other in more:
            if len(x) != len(other):
                raise ValueError("All of the arrays in `x` should have the same length. Found a pair with: "
                                 f"len(x[0]) = {len(x)}, len(x[?]) = {len(other)}")
        for name, what, other in (("y", "(labels) ", y), ("sample_weight", "", sample_weight)):
            if other is not None and len(x) != len(other):
                raise ValueError(f"`x` (images tensor) and `{name}` {what}should have the same length. Found: x.shape "
                                 f"= {numpy.asarray(x).shape}, {name}.shape = {numpy.asarray(other).shape}")
        if subset is not None:
            check_subset(subset)
            cut = int(len(x) * image_data_generator._validation_split)
            if y is not None and not ignore_class_split and not numpy.array_equal(
                    numpy.unique(y[:cut]), numpy.unique(y[cut:])):
                raise ValueError("Training and validation subsets have different number of classes after the split. If "
                                 "your numpy arrays are sorted by the label, you might want to shuffle them.")
            part = slice(cut) if subset == "validation" else slice(cut, None)
            x, more, y = x[part], [other[part] for other in more], y if y is None else y[part]
        self.x, self.x_misc = numpy.asarray(x, dtype=self.dtype), more
        self._check_images()
        self.y = None if y is None else numpy.asarray(y)
        self.sample_weight = None if sample_weight is None else numpy.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(x.shape[0], batch_size, shuffle, seed)

    def _check_images(self):
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape "
                             f"{self.x.shape}")
        axis = 3 if self.data_format == "channels_last" else 1
        if self.x.shape[axis] not in (1, 3, 4):
            warnings.warn(f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" (channels '
                          f"on axis {axis}), i.e. expected either 1, 3, or 4 channels on axis {axis}. However, it was "
                          f"passed an array with shape {self.x.shape} ({self.x.shape[axis]} channels).")

    def _get_batches_of_transformed_samples(self, index_array):
        import numpy
        batch = numpy.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        generator = self.image_data_generator
        for place, index in enumerate(index_array):
            drawn = generator.get_random_transform(self.x[index].shape)
            batch[place] = generator.standardize(generator.apply_transform(self.x[index].astype(self.dtype), drawn))
        self._save(batch, index_array, 10_000)
        images = [batch, *(other[index_array] for other in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return images
        weights = () if self.sample_weight is None else (self.sample_weight[index_array],)
        return (images, self.y[index_array], *weights)
