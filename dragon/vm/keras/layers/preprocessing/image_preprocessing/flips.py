"""Images turned over."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import BaseImagePreprocessingLayer
from dragon.vm.keras.layers.preprocessing.image_preprocessing.bounding_boxes import (
    clip_to_image_size, convert_format, joined, parts)

MODES = ("horizontal", "vertical", "horizontal_and_vertical")


class RandomFlip(BaseImagePreprocessingLayer):
    """Turn half of the images over.

    Parameters
    ----------
    mode : {"horizontal", "vertical", "horizontal_and_vertical"}, optional
        Along which axes, both together by default.

    Examples
    --------
    >>> layer = keras.layers.RandomFlip("horizontal", seed=1)
    >>> image = np.arange(4.0).reshape(2, 2, 1)
    >>> bool((np.asarray(layer(image)) == image).all())
    True
    >>> tuple(layer(image, training=True).shape)
    (2, 2, 1)

    """

    _USE_BASE_FACTOR = False
    _arguments = "seed ..."

    def __init__(self, mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._seeded(seed)
        self.mode = mode

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw which images are turned."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        flips = self._draw((1, 1, 1) if len(shape) == 3 else (batch, 1, 1, 1), seed=seed) <= 0.5
        return {"flips": flips, "input_shape": shape}

    def _transform_images(self, images, transformation, interpolation):
        if transformation is None:
            return images
        if self.mode not in MODES:
            raise ValueError(f"RandomFlip: `mode` must be one of {MODES}. Received: mode={self.mode}")
        _, height, width = self._axes
        flips, turned = transformation["flips"], images
        if self.mode != "vertical":
            turned = K.flip(turned, axis=width)
        if self.mode != "horizontal":
            turned = K.flip(turned, axis=height)
        return K.where(flips, turned, images)

    def transform_images(self, images, transformation, training=True):
        """Return images, some of them turned."""
        images = self._computed(images)
        return self._transform_images(images, transformation, None) if training else images

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of turned images."""
        if not training:
            return bounding_boxes
        flips = K.squeeze(transformation["flips"], axis=-1)
        height, width = self._size_of(transformation["input_shape"])
        made = convert_format(dict(bounding_boxes), self.bounding_box_format, "rel_xyxy", height, width)
        boxes = made["boxes"]
        if self.mode != "vertical":
            a, b, c, d = parts(boxes)
            boxes = K.where(flips, joined(1 - c, b, 1 - a, d), boxes)
        if self.mode != "horizontal":
            a, b, c, d = parts(boxes)
            boxes = K.where(flips, joined(a, 1 - d, c, 1 - b), boxes)
        made = clip_to_image_size({**made, "boxes": boxes}, height, width, "xyxy")
        return convert_format(made, "rel_xyxy", self.bounding_box_format, height, width)
