"""Images mixed with others of their batch."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import (
    BaseImagePreprocessingLayer, ColorLayer, range_of)


class RectangleLayer(BaseImagePreprocessingLayer, _USE_BASE_FACTOR=False, _FACTOR_BOUNDS=(0, 1)):
    """The base of layers that draw a rectangle in each image."""

    def _drawn_way(self, batch, size, ratio, seed):
        """Draw where along an axis a part of it begins and ends."""
        length = self._computed(ratio * size)
        start = self._draw((batch,), seed=seed, dtype=self.compute_dtype) * (size - length)
        return start, start + length

    def _inside(self, shape, across, down):
        """Return which pixels are in the rectangles, and the parts of the images that these are."""
        height, width = self._size_of(shape)
        row = (1, 1, 1, -1) if self.data_format == "channels_first" else (1, 1, -1, 1)
        column = (1, 1, -1, 1) if self.data_format == "channels_first" else (1, -1, 1, 1)
        x = K.reshape(K.arange(width, dtype=self.compute_dtype), row)
        y = K.reshape(K.arange(height, dtype=self.compute_dtype), column)
        left, right, top, bottom = (K.reshape(end, (-1, 1, 1, 1)) for end in (*across, *down))
        inside = K.logical_and(K.logical_and(x >= left, x < right), K.logical_and(y >= top, y < bottom))
        return inside, (right - left) * (bottom - top) / (width * height)

    def _shuffled(self, batch, dtype, seed):
        from dragon.vm.keras import random
        return random.shuffle(K.arange(0, batch, dtype=dtype), seed=self.generator if seed is None else seed)


class CutMix(RectangleLayer):
    """Put a rectangle of another image into each, and mix their labels by its size.

    Parameters
    ----------
    factor : Union[float, Sequence[float]], optional, default=1.0
        The range of the parameter of the beta distribution that the sizes are from.

    """

    _arguments = "factor ..."

    def __init__(self, factor=1.0, seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw rectangles and partners."""
        from dragon.vm.keras import random
        shape, batch = self._batch_of(data)
        if not training or len(shape) == 3:
            return None
        seed = seed or self.generator
        height, width = self._size_of(shape)
        alpha = self._draw((), *self.factor, seed=seed, dtype=self.compute_dtype) + 1e-6
        ratio = K.sqrt(1.0 - random.beta((batch,), alpha, alpha, seed=seed, dtype=self.compute_dtype))
        across = self._drawn_way(batch, width, ratio, seed)
        down = self._drawn_way(batch, height, ratio, seed)
        inside, part = self._inside(shape, across, down)
        return {"permutation_order": self._shuffled(batch, "int32", seed), "batch_masks": inside,
                "mix_weight": 1.0 - part}

    def transform_images(self, images, transformation=None, training=True):
        """Return images with rectangles of others."""
        images = self._computed(images)
        if not training or transformation is None:
            return images
        others = K.take(images, transformation["permutation_order"], axis=0)
        return K.where(transformation["batch_masks"], others, images)

    def transform_labels(self, labels, transformation, training=True):
        """Return mixed labels."""
        if not training or transformation is None:
            return labels
        weight = K.reshape(transformation["mix_weight"], (-1, 1))
        return weight * labels + (1.0 - weight) * K.take(labels, transformation["permutation_order"], axis=0)

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return masks with rectangles of others."""
        return self.transform_images(segmentation_masks, transformation, training)


class MixUp(RectangleLayer, _USE_BASE_FACTOR=True, _FACTOR_BOUNDS=(-1, 1)):
    """Blend each image with another, and their labels alike.

    Parameters
    ----------
    alpha : float, optional, default=0.2
        The parameter of the beta distribution that the weights are from.

    """

    def __init__(self, alpha=0.2, data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.alpha = alpha
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw partners and weights."""
        from dragon.vm.keras import random
        _, batch = self._batch_of(data)
        order = self._shuffled(batch, "int64", seed)
        weight = random.beta((batch,), self.alpha, self.alpha, seed=self.generator if seed is None else seed)
        return {"mix_weight": weight, "permutation_order": order}

    def _blended(self, x, transformation, rank=None):
        weight = K.reshape(transformation["mix_weight"], (-1,) + (1,) * ((rank or len(x.shape)) - 1))
        weight = K.cast(weight, x.dtype if "float" in str(x.dtype) else self.compute_dtype)
        return weight * x + (1.0 - weight) * K.take(x, transformation["permutation_order"], axis=0)

    def transform_images(self, images, transformation=None, training=True):
        """Return blended images."""
        return self._blended(self._computed(images), transformation, rank=4) if training else images

    def transform_labels(self, labels, transformation, training=True):
        """Return blended labels."""
        return self._blended(labels, transformation) if training else labels

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return blended masks."""
        return self._blended(segmentation_masks, transformation) if training else segmentation_masks

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of both images."""
        if not training:
            return bounding_boxes
        order = transformation["permutation_order"]
        boxes, labels = bounding_boxes["boxes"], bounding_boxes["labels"]
        return {"boxes": K.concatenate([boxes, K.take(boxes, order, axis=0)], axis=1),
                "labels": K.concatenate([labels, K.take(labels, order, axis=0)], axis=0)}


class RandomErasing(RectangleLayer, ColorLayer):
    """Fill a rectangle of images.

    Parameters
    ----------
    scale : Union[float, Sequence[float]], optional, default=(0.02, 0.33)
        The range of the rectangle's part of the image.
    fill_value : Optional[Union[float, Sequence[float]]], optional
        What fills it: noise by default.

    """

    _arguments = "factor ..."

    def __init__(self, factor=1.0, scale=(0.02, 0.33), fill_value=None, value_range=(0, 255), seed=None,
                 data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        self.scale = range_of(scale, (0, 1), "scale")
        if isinstance(fill_value, (tuple, list)) and len(fill_value) != 3:
            raise ValueError("The `fill_value` argument should be a number (or a list of three numbers). "
                             f"Received: fill_value={fill_value}")
        self.fill_value = fill_value
        self.value_range = value_range
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw rectangles, what fills them, and which images get one."""
        if not training:
            return None
        seed = seed or self.generator
        shape, batch = self._batch_of(data)
        height, width = self._size_of(shape)
        ratios = K.sqrt(self._draw((batch, 2), *self.scale, seed=seed, dtype=self.compute_dtype))
        across = self._drawn_way(batch, width, ratios[:, 0], seed)
        down = self._drawn_way(batch, height, ratios[:, 1], seed)
        inside, _ = self._inside(shape, across, down)
        chosen = self._chances(batch, seed)
        return {"apply_erasing": chosen, "batch_masks": inside, "fill_value": self._fill(shape, seed)}

    def _fill(self, shape, seed):
        from dragon.vm.keras import random
        if self.fill_value is None:
            filler = random.normal(shape, dtype=self.compute_dtype, seed=seed) * self.value_range[1]
        else:
            filler = K.convert_to_tensor(self.fill_value, dtype=self.compute_dtype)
        return K.clip(filler, *self.value_range)

    def transform_images(self, images, transformation=None, training=True):
        """Return images, some of them with a rectangle filled."""
        images = self._computed(images)
        if not training:
            return images
        chosen = K.reshape(transformation["apply_erasing"], (-1, 1, 1, 1))
        inside = K.logical_and(chosen, transformation["batch_masks"])
        return K.where(inside, transformation["fill_value"], images)
