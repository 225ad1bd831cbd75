"""Images with other colours."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import ColorLayer, value_range_of
from dragon.vm.keras.layers.preprocessing.image_preprocessing.light import RandomBrightness, RandomContrast


class _FactorLayer(ColorLayer):
    """A layer with a factor drawn for each image, whose least and greatest value is told."""

    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        self.value_range = value_range_of(value_range)
        self._seeded(seed)

    def _channels(self, images):
        """Return the channels of colours one by one."""
        axis = self._axes[0]
        return [K.squeeze(part, axis=axis) for part in K.split(images, 3, axis=axis)]


class RandomHue(_FactorLayer):
    """Turn the hues of images.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the way, as a part of half a turn; it goes both ways.

    """

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(factor, value_range, data_format, seed, **kwargs)
        self.value_range = value_range

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a way for each image."""
        _, batch = self._batch_of(data)
        sign = self._draw((batch,), seed=seed)
        sign = K.where(sign > 0.5, -K.ones_like(sign), K.ones_like(sign))
        return {"factor": sign * self._draw((batch,), *self.factor, seed=seed) * 0.5}

    def transform_images(self, images, transformation=None, training=True):
        """Return images with other hues."""
        if not training:
            return images
        images = self._transform_value_range(self._computed(images), self.value_range, (0, 1))
        way = K.reshape(K.cast(transformation["factor"], images.dtype), (-1, 1, 1))
        hue, saturation, value = self._channels(K.image.rgb_to_hsv(images, data_format=self.data_format))
        hue = hue + way
        hue = K.where(hue > 1.0, hue - 1.0, hue)
        hue = K.where(hue < 0.0, hue + 1.0, hue)
        images = K.image.hsv_to_rgb(K.stack([hue, saturation, value], axis=self._axes[0]),
                                    data_format=self.data_format)
        return self._computed(self._transform_value_range(K.clip(images, 0, 1), (0, 1), self.value_range))


class RandomSaturation(_FactorLayer):
    """Make colours paler or stronger; at factor 0.5 they stay.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the strength, between 0 and 1.

    """

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a strength for each image."""
        factor = self._draw((self._batch_of(data)[1],), *self.factor, seed=seed)
        return {"factor": factor / (1 - factor + epsilon())}

    def transform_images(self, images, transformation=None, training=True):
        """Return images with other saturations."""
        if not training:
            return images
        factor = K.reshape(self._computed(transformation["factor"]), (-1, 1, 1))
        hue, saturation, value = self._channels(K.image.rgb_to_hsv(images, data_format=self.data_format))
        saturation = K.clip(K.multiply(saturation, factor), *self.value_range)
        return K.image.hsv_to_rgb(K.stack([hue, saturation, value], axis=self._axes[0]),
                                  data_format=self.data_format)


class RandomColorDegeneration(_FactorLayer, _FACTOR_BOUNDS=(-1, 1)):
    """Mix images with their greys.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the part of grey, between 0 and 1.

    """

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a part for each image."""
        return {"factor": self._draw((self._batch_of(data)[1], 1, 1, 1), *self.factor, seed=seed)}

    def transform_images(self, images, transformation=None, training=True):
        """Return images with less colour."""
        if not training:
            return images
        images = self._computed(images)
        grey = K.image.rgb_to_grayscale(images, data_format=self.data_format)
        images = images + self._computed(transformation["factor"]) * (grey - images)
        return self._computed(K.clip(images, *self.value_range))


class RandomPosterization(_FactorLayer, _USE_BASE_FACTOR=False, _FACTOR_BOUNDS=(1, 8)):
    """Keep the first bits of each pixel.

    Parameters
    ----------
    factor : Union[int, Sequence[int]]
        The range of how many bits stay, between 1 and 8.

    """

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a number of bits for each image."""
        from dragon.vm.keras import random
        _, batch = self._batch_of(data)
        least, most = self.factor
        if least == most:
            return {"shift_factor": K.full((batch,), 8 - least, dtype="uint8")}
        bits = random.randint((batch,), least, most, seed=self.generator if seed is None else seed, dtype="int64")
        return {"shift_factor": K.cast(8 - bits, "uint8")}

    def transform_images(self, images, transformation=None, training=True):
        """Return images of fewer shades."""
        if not training:
            return images
        shift = K.reshape(transformation["shift_factor"], (-1, 1, 1, 1))
        images = self._transform_value_range(images, self.value_range, (0, 255), self.compute_dtype)
        images = K.cast(images, "uint8")
        images = K.bitwise_left_shift(K.bitwise_right_shift(images, shift), shift)
        return self._transform_value_range(self._computed(images), (0, 255), self.value_range, self.compute_dtype)


class RandomSharpness(_FactorLayer, _USE_BASE_FACTOR=False):
    """Blur or sharpen images; at factor 0.5 they stay.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the sharpness, between 0 and 1.

    """

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a sharpness for each image."""
        return {"factor": self._draw((self._batch_of(data)[1],), *self.factor, seed=seed)}

    def transform_images(self, images, transformation=None, training=True):
        """Return images of other sharpness."""
        images = self._computed(images)
        if not training:
            return images
        factor = K.reshape(self._computed(transformation["factor"] * 2), (-1, 1, 1, 1))
        channels = images.shape[self._axes[0]]
        kernel = K.full((3, 3, channels, 1), 1.0 / 13.0, dtype=self.compute_dtype)
        middle = K.pad(K.full((1, 1, channels, 1), 4.0 / 13.0, dtype=self.compute_dtype),
                       ((1, 1), (1, 1), (0, 0), (0, 0)))
        smooth = K.depthwise_conv(images, kernel + middle, strides=1, padding="same", data_format=self.data_format)
        return K.clip(images + (1.0 - factor) * (smooth - images), *self.value_range)


class RandomGrayscale(ColorLayer):
    """Turn some images grey.

    Parameters
    ----------
    factor : float, optional, default=0.5
        The probability.

    """

    _arguments = "factor"

    def __init__(self, factor=0.5, data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        if not 0 <= factor <= 1:
            raise ValueError(f"`factor` should be between 0 and 1. Received: factor={factor}")
        self.factor = factor
        self._seeded(seed)

    def get_random_transformation(self, images, training=True, seed=None):
        """Draw which images are grey."""
        chosen = self._draw((self._batch_of(images)[1],), seed=seed) < self.factor
        return K.reshape(chosen, (-1, 1, 1, 1))

    def transform_images(self, images, transformation, training=True):
        """Return images, some of them grey."""
        if not training:
            return images
        return K.where(transformation, K.image.rgb_to_grayscale(images, data_format=self.data_format), images)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input, which has three channels."""
        if len(input_shape) not in (3, 4):
            raise ValueError("Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
                             f"Received: input_shape={input_shape}")
        channels = input_shape[self._axes[0]]
        if channels not in (None, 3):
            raise ValueError(f"Input images must have 3 channels, but received images with {channels} channels.")
        return input_shape

    def compute_output_spec(self, inputs, **kwargs):
        return KerasTensor(inputs.shape, dtype=inputs.dtype)


class RandomColorJitter(ColorLayer):
    """Change light, contrast, saturation and hue, one after another.

    Parameters
    ----------
    brightness_factor, contrast_factor : Optional[Union[float, Sequence[float]]], optional
    saturation_factor, hue_factor : Optional[Union[float, Sequence[float]]], optional
        See RandomBrightness, RandomContrast, RandomSaturation and RandomHue; None leaves one out.

    """

    def __init__(self, value_range=(0, 255), brightness_factor=None, contrast_factor=None, saturation_factor=None,
                 hue_factor=None, seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.brightness_factor, self.contrast_factor = brightness_factor, contrast_factor
        self.saturation_factor, self.hue_factor = saturation_factor, hue_factor
        self._seeded(seed)
        for name, kind in (("brightness", RandomBrightness), ("contrast", RandomContrast),
                           ("saturation", RandomSaturation), ("hue", RandomHue)):
            factor = getattr(self, name + "_factor")
            setattr(self, "random_" + name, None if factor is None else kind(
                factor=factor, value_range=value_range, seed=seed))

    def _steps(self):
        steps = (self.random_brightness, self.random_contrast, self.random_saturation, self.random_hue)
        return [step for step in steps if step is not None]

    def build(self, input_shape):
        """Build the layers of the steps."""
        for step in self._steps():
            step.build(input_shape)

    def transform_images(self, images, transformation, training=True):
        """Return images after all steps."""
        if not training:
            return images
        images = self._computed(images)
        for step in self._steps():
            drawn = step.get_random_transformation(images, seed=self.generator)
            if "contrast_factor" in drawn:  # in the step's dtype, which is not the layer's where numbers are short
                drawn["contrast_factor"] = self._computed(drawn["contrast_factor"])
            images = step.transform_images(images, drawn)
        return self._computed(images)
