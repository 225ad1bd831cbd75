"""Images that are changed at random before they come in batches."""
import math

from dragon.core import warnings
from dragon.vm.keras.core.config import floatx, image_data_format
from dragon.vm.keras.legacy.preprocessing.image.colors import apply_brightness_shift, apply_channel_shift
from dragon.vm.keras.legacy.preprocessing.image.files import DirectoryIterator
from dragon.vm.keras.legacy.preprocessing.image.frames import DataFrameIterator
from dragon.vm.keras.legacy.preprocessing.image.iterators import NumpyArrayIterator
from dragon.vm.keras.legacy.preprocessing.image.moves import apply_affine_transform, draw_zoom, flip_axis

AXES = {"channels_first": (1, 2, 3), "channels_last": (3, 1, 2)}  # channels, rows, columns
OUTDATED = {"has_ext": "has_ext is deprecated, filenames in the dataframe have to match the exact filenames in disk.",
            "sort": "sort is deprecated, batches will be created in the same order than the filenames provided if "
                    "`shuffle` is set to `False`.",
            "drop_duplicates": "drop_duplicates is deprecated, you can drop duplicates by using the "
                               "pandas.DataFrame.drop_duplicates method."}


class ImageDataGenerator:
    """Change images at random, and bring them to one mean and deviation, batch by batch.

    Parameters
    ----------
    featurewise_center, featurewise_std_normalization : bool, optional, default=False
        Bring the mean of each channel to 0, its deviation to 1; `fit` measures them.
    samplewise_center, samplewise_std_normalization : bool, optional, default=False
        The same for each image.
    zca_whitening : bool, optional, default=False
        Take out what pixels have in common; `fit` measures it.
    zca_epsilon : float, optional, default=1e-06
        What is added to its divisor.
    rotation_range : float, optional, default=0
        Degrees, in either direction.
    width_shift_range, height_shift_range : Union[float, int, Sequence], optional, default=0.0
        Less than 1: parts of the size; whole numbers: pixels; a sequence: what is chosen from.
    brightness_range : Tuple[float, float], optional
        Limits of brightness, 1 as it is.
    shear_range : float, optional, default=0.0
        Degrees, in either direction.
    zoom_range : Union[float, Tuple[float, float]], optional, default=0.0
        How much from 1, or limits.
    channel_shift_range : float, optional, default=0.0
        The largest number that is added to channels.
    fill_mode, cval, interpolation_order : optional
        As of `apply_affine_transform`.
    horizontal_flip, vertical_flip : bool, optional, default=False
        Whether every other image is flipped.
    rescale : float, optional
        A factor for all numbers.
    preprocessing_function : Callable, optional
        Is called with each image that was changed, before factors and means.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    validation_split : float, optional, default=0.0
        Which part is "validation", the rest being "training".
    dtype : str, optional
        Of the batches; the configured one by default.

    Examples
    --------
    >>> images = np.zeros((5, 8, 8, 3), "float32")
    >>> batches = keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True).flow(images, batch_size=2)
    >>> len(batches), next(batches).shape
    (3, (2, 8, 8, 3))

    """

    def __init__(self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
                 samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-6, rotation_range=0,
                 width_shift_range=0.0, height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0,
                 channel_shift_range=0.0, fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False,
                 rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0,
                 interpolation_order=1, dtype=None):
        data_format = data_format or image_data_format()
        if data_format not in AXES:
            raise ValueError('`data_format` should be `"channels_last"` (channel after row and column) or '
                             f'`"channels_first"` (channel before row and column). Received: {data_format}')
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        self.zoom_range = _limits_of_zoom(zoom_range)
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list))
                                             or len(brightness_range) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self.featurewise_center, self.featurewise_std_normalization = featurewise_center, featurewise_std_normalization
        self.samplewise_center, self.samplewise_std_normalization = samplewise_center, samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.channel_shift_range = channel_shift_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.brightness_range, self.rescale = brightness_range, rescale
        self.fill_mode, self.cval, self.interpolation_order = fill_mode, cval, interpolation_order
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.preprocessing_function = preprocessing_function
        self.dtype, self.data_format = dtype or floatx(), data_format
        self.channel_axis, self.row_axis, self.col_axis = AXES[data_format]
        self._validation_split = validation_split
        self.mean = self.std = self.zca_whitening_matrix = None
        self._settle()

    def _settle(self):
        """Turn on what others need, and off what they exclude, with a warning."""
        def overrides(cause, changed, value):
            if getattr(self, cause) and getattr(self, changed) != value:
                setattr(self, changed, value)
                warnings.warn(f"This ImageDataGenerator specifies `{cause}`, which overrides setting of `{changed}`.")
        overrides("zca_whitening", "featurewise_center", True)
        overrides("zca_whitening", "featurewise_std_normalization", False)
        overrides("featurewise_std_normalization", "featurewise_center", True)
        overrides("samplewise_std_normalization", "samplewise_center", True)

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None,
             save_prefix="", save_format="png", ignore_class_split=False, subset=None):
        """Return an iterator over batches of an array's images; arguments are those of `NumpyArrayIterator`."""
        return NumpyArrayIterator(
            x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight, seed=seed,
            data_format=self.data_format, save_to_dir=save_to_dir, save_prefix=save_prefix, save_format=save_format,
            ignore_class_split=ignore_class_split, subset=subset, dtype=self.dtype)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None,
                            class_mode="categorical", batch_size=32, shuffle=True, seed=None, save_to_dir=None,
                            save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest",
                            keep_aspect_ratio=False):
        """Return an iterator over batches of a folder's images; arguments are those of `DirectoryIterator`. ..."""
        return DirectoryIterator(
            directory, self, target_size=target_size, color_mode=color_mode, classes=classes, class_mode=class_mode,
            batch_size=batch_size, shuffle=shuffle, seed=seed, data_format=self.data_format, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format, follow_links=follow_links, subset=subset,
            interpolation=interpolation, keep_aspect_ratio=keep_aspect_ratio, dtype=self.dtype)

    def flow_from_dataframe(self, dataframe, directory=None, x_col="filename", y_col="class", weight_col=None,
                            target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                            batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png",
                            subset=None, interpolation="nearest", validate_filenames=True, **kwargs):
        """Return an iterator over batches of a table's images; arguments are those of `DataFrameIterator`. ..."""
        for name in kwargs:
            if name not in OUTDATED:
                raise TypeError(f"flow_from_dataframe() got unexpected keyword arguments. Received: {name}")
            warnings.warn(OUTDATED[name], DeprecationWarning)
        if class_mode == "other":
            warnings.warn('`class_mode="other"` is deprecated, please use `class_mode="raw"`.', DeprecationWarning)
            class_mode = "raw"
        return DataFrameIterator(
            dataframe, directory, self, x_col=x_col, y_col=y_col, weight_col=weight_col, target_size=target_size,
            color_mode=color_mode, classes=classes, class_mode=class_mode, batch_size=batch_size, shuffle=shuffle,
            seed=seed, data_format=self.data_format, save_to_dir=save_to_dir, save_prefix=save_prefix,
            save_format=save_format, subset=subset, interpolation=interpolation, dtype=self.dtype,
            validate_filenames=validate_filenames)

    def standardize(self, x):
        """Return images with factors, means and deviations as they were asked for; the array itself may change."""
        import numpy
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= numpy.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= numpy.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._is_measured("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._is_measured("featurewise_std_normalization", self.std):
            x /= self.std + 1e-6
        if self.zca_whitening and self._is_measured("zca_whitening", self.zca_whitening_matrix):
            flat = x.reshape(-1, math.prod(x.shape[-3:]))
            x = numpy.reshape(flat @ self.zca_whitening_matrix, x.shape)
        return x

    @staticmethod
    def _is_measured(name, value):
        if value is None:
            warnings.warn(f"This ImageDataGenerator specifies `{name}`, but it hasn't been fit on any training data. "
                          "Fit it first by calling `.fit(numpy_data)`.")
        return value is not None

    def get_random_transform(self, img_shape, seed=None):
        """Return what is to be done to an image, drawn by NumPy's generator.

        Parameters
        ----------
        img_shape : Tuple[int, int, int]
            Its shape.
        seed : int, optional
            Of NumPy's generator.

        Returns
        -------
        Dict[str, Any]
            For `apply_transform`.

        """
        import numpy
        if seed is not None:
            numpy.random.seed(seed)
        uniform = numpy.random.uniform
        drawn = {"theta": uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0,
                 "tx": _draw_shift(self.height_shift_range, img_shape[self.row_axis - 1]),
                 "ty": _draw_shift(self.width_shift_range, img_shape[self.col_axis - 1]),
                 "shear": uniform(-self.shear_range, self.shear_range) if self.shear_range else 0}
        drawn["zx"], drawn["zy"] = draw_zoom(self.zoom_range)
        # Drawn even where nothing is flipped, as there, so that what follows is drawn alike.
        drawn["flip_horizontal"] = (numpy.random.random() < 0.5) * self.horizontal_flip
        drawn["flip_vertical"] = (numpy.random.random() < 0.5) * self.vertical_flip
        reach, light = self.channel_shift_range, self.brightness_range
        drawn["channel_shift_intensity"] = uniform(-reach, reach) if reach else None
        drawn["brightness"] = None if light is None else uniform(light[0], light[1])
        return drawn

    def apply_transform(self, x, transform_parameters):
        """Return an image that was changed.

        Parameters
        ----------
        x : numpy.ndarray
            One image.
        transform_parameters : Dict[str, Any]
            What is done to it: "theta", "tx", "ty", "shear", "zx", "zy", "flip_horizontal", "flip_vertical",
            "channel_shift_intensity", "brightness".

        Returns
        -------
        numpy.ndarray
            Of the same shape.

        """
        rows, columns, channels = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        told = transform_parameters.get
        x = apply_affine_transform(x, told("theta", 0), told("tx", 0), told("ty", 0), told("shear", 0), told("zx", 1),
                                   told("zy", 1), row_axis=rows, col_axis=columns, channel_axis=channels,
                                   fill_mode=self.fill_mode, cval=self.cval, order=self.interpolation_order)
        if told("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, told("channel_shift_intensity"), channels)
        x = flip_axis(x, columns) if told("flip_horizontal", False) else x
        x = flip_axis(x, rows) if told("flip_vertical", False) else x
        return x if told("brightness") is None else apply_brightness_shift(x, told("brightness"), False)

    def random_transform(self, x, seed=None):
        """Return an image that was changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Measure what images have in common, which `featurewise_center` and its like need.

        Parameters
        ----------
        x : numpy.ndarray
            The images.
        augment : bool, optional, default=False
            Whether they are changed at random first.
        rounds : int, optional, default=1
            How often, then.
        seed : int, optional
            Of NumPy's generator.

        """
        import numpy
        x = numpy.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        if x.shape[self.channel_axis] not in (1, 3, 4):
            warnings.warn("Expected input to be images (as Numpy array) following the data format convention "
                          f'"{self.data_format}" (channels on axis {self.channel_axis}), i.e. expected either 1, 3 or '
                          f"4 channels on axis {self.channel_axis}. However, it was passed an array with shape "
                          f"{x.shape} ({x.shape[self.channel_axis]} channels).")
        if seed is not None:
            numpy.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = numpy.array([self.random_transform(image) for _ in range(rounds) for image in x], dtype=self.dtype)
        kept = [1, 1, 1]
        kept[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = numpy.reshape(numpy.mean(x, axis=(0, self.row_axis, self.col_axis)), kept)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = numpy.reshape(numpy.std(x, axis=(0, self.row_axis, self.col_axis)), kept)
            x /= self.std + 1e-6
        if self.zca_whitening:
            vectors, sizes, _ = numpy.linalg.svd(numpy.reshape(x, (len(x), -1)).T, full_matrices=False)
            self.zca_whitening_matrix = (vectors * (math.sqrt(len(x)) / (sizes + self.zca_epsilon))) @ vectors.T


def _limits_of_zoom(zoom_range):
    if isinstance(zoom_range, (float, int)):
        return [1 - zoom_range, 1 + zoom_range]
    if len(zoom_range) == 2 and all(isinstance(limit, (float, int)) for limit in zoom_range):
        return list(zoom_range)
    raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}")


def _draw_shift(reach, size):
    """Return over how many pixels an image is shifted."""
    import numpy
    if not numpy.any(reach):
        return 0
    try:  # one of several numbers, or of those below an integer
        shift = numpy.random.choice(reach) * numpy.random.choice([-1, 1])
    except ValueError:  # a float
        shift = numpy.random.uniform(-reach, reach)
    return shift * size if numpy.max(reach) < 1 else shift
