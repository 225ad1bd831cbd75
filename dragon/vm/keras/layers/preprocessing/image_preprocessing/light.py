"""Images made brighter, darker, inverted, and with more or less contrast."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import ColorLayer, range_of, value_range_of


class RandomBrightness(ColorLayer):
    """Add a number to all pixels of an image.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the number, as a part of the range of values; a single one goes both ways.

    """

    _arguments = "factor ..."

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(factor=factor, **kwargs)
        self._seeded(seed)
        self.value_range = value_range_of(value_range)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a number for each image."""
        shape, batch = self._batch_of(data)
        size = (1, 1, 1) if len(shape) == 3 else (batch, 1, 1, 1)
        if not training:
            return {"rgb_delta": K.zeros(size)}
        least, most = self.value_range
        return {"rgb_delta": self._draw(size, *self.factor, seed=seed) * (most - least)}

    def transform_images(self, images, transformation, training=True):
        """Return images with other light."""
        if not training:
            return images
        return K.clip(images + K.cast(transformation["rgb_delta"], images.dtype), *self.value_range)


class RandomContrast(ColorLayer):
    """Move the pixels of an image from the mean of their channel, or towards it.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        How far the contrast goes below and above one, between 0 and 1.

    """

    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(**kwargs)
        self._set_factor(factor)
        self.value_range = value_range
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a contrast for each image."""
        shape, batch = self._batch_of(data)
        size = (1, 1, 1) if len(shape) == 3 else (batch, 1, 1, 1)
        if not training:
            return {"contrast_factor": K.zeros(size)}
        return {"contrast_factor": self._draw(size, 1.0 - self.factor[0], 1.0 + self.factor[1], seed=seed,
                                              dtype=self.compute_dtype)}

    def transform_images(self, images, transformation, training=True):
        """Return images with another contrast."""
        if not training:
            return images
        _, height, width = self._axes
        mean = K.mean(K.mean(images, axis=height, keepdims=True), axis=width, keepdims=True)
        return K.clip((images - mean) * transformation["contrast_factor"] + mean, *self.value_range)


class RandomInvert(ColorLayer):
    """Turn images into their negatives. ..."""

    _USE_BASE_FACTOR = False
    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor=1.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        self.value_range = value_range
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw which images are inverted."""
        return {"apply_inversion": self._chances(self._batch_of(data)[1], seed)} if training else None

    def transform_images(self, images, transformation, training=True):
        """Return images, some of them inverted."""
        if not training:
            return images
        images = self._computed(images)
        chosen = K.reshape(transformation["apply_inversion"], (-1, 1, 1, 1))
        return K.where(chosen, self.value_range[1] - images, images)


class Solarization(ColorLayer):
    """Invert the pixels above a threshold.

    Parameters
    ----------
    addition_factor : Union[float, Sequence[float]], optional, default=0.0
        The range of what is added first, between 0 and 1 of 255.
    threshold_factor : Union[float, Sequence[float]], optional, default=0.0
        The range of the threshold.

    """

    _USE_BASE_FACTOR = False
    _arguments = "value_range ..."

    def __init__(self, addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(**kwargs)
        self._seeded(seed)
        self.addition_factor = range_of(addition_factor, (0, 1), "addition_factor")
        self.threshold_factor = range_of(threshold_factor, (0, 1), "threshold_factor")
        self.value_range = value_range_of(value_range)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw what is added, and the threshold, for each image."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        size = (1, 1, 1) if len(shape) == 3 else (batch, 1, 1, 1)

        def draw(ends):
            return self._draw(size, ends[0], ends[1] * 255, seed=seed, dtype=self.compute_dtype)
        return {"additions": draw(self.addition_factor), "thresholds": draw(self.threshold_factor)}

    def transform_images(self, images, transformation, training=True):
        """Return solarized images."""
        images = self._computed(images)
        if not training or transformation is None:
            return images
        images = self._transform_value_range(images, self.value_range, (0, 255), self.compute_dtype)
        images = K.clip(images + transformation["additions"], 0, 255)
        images = K.where(images < transformation["thresholds"], images, 255 - images)
        return self._transform_value_range(images, (0, 255), self.value_range, self.compute_dtype)


class AutoContrast(ColorLayer, _USE_BASE_FACTOR=False):
    """Stretch the channels of an image over the whole range of values. ..."""

    def __init__(self, value_range=(0, 255), **kwargs):
        super().__init__(**kwargs)
        self.value_range = value_range_of(value_range)

    def transform_images(self, images, transformation=None, training=True):
        """Return stretched images."""
        before = images
        images = self._computed(self._transform_value_range(images, self.value_range, (0, 255), self.compute_dtype))
        low, high = K.min(images, axis=(1, 2), keepdims=True), K.max(images, axis=(1, 2), keepdims=True)
        scale = 255.0 / (high - low)
        made = self._transform_value_range(K.clip(images * scale - low * scale, 0.0, 255.0), (0, 255),
                                           self.value_range, self.compute_dtype)
        return K.where(K.isnan(made), before, made)
