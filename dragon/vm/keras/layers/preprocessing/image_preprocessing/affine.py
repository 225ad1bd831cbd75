"""Images turned, moved, scaled and sheared."""

import math

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing import bounding_boxes as boxes_of
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import (
    BaseImagePreprocessingLayer, check_mode, range_of)

FILLS = ("reflect", "wrap", "constant", "nearest")
INTERPOLATIONS = ("nearest", "bilinear")


class AffineLayer(BaseImagePreprocessingLayer, _USE_BASE_FACTOR=False):
    """The base of layers that sample images at places given by a matrix; subclasses say `_matrix`."""

    def _sampled(self, fill_mode, interpolation, fill_value, seed):
        """Keep how places are sampled."""
        check_mode(fill_mode, FILLS, "fill_mode")
        check_mode(interpolation, INTERPOLATIONS, "interpolation")
        self.fill_mode = fill_mode
        self.interpolation = interpolation
        self.fill_value = fill_value
        self._seeded(seed)
        self.supports_jit = False

    def _matrix(self, transformation, height, width):
        """Return eight numbers for each image: how places of the output become places of the input."""
        raise NotImplementedError

    def _transform_images(self, images, transformation, interpolation):
        if transformation is None:
            return images
        matrix = self._matrix(transformation, *self._size_of(images.shape))
        return K.image.affine_transform(images, matrix, interpolation=interpolation, fill_mode=self.fill_mode,
                                        fill_value=self.fill_value, data_format=self.data_format)


def _columns(*columns):
    """Return columns, numbers among them, as a matrix of float32."""
    rows = next(column for column in columns if not isinstance(column, (int, float)))
    zeros = K.zeros_like(rows)
    return K.cast(K.concatenate([zeros + column if isinstance(column, (int, float)) else column
                                 for column in columns], axis=1), "float32")


class RandomRotation(AffineLayer):
    """Turn images about their middle.

    Parameters
    ----------
    factor : Union[float, Sequence[float]]
        The range of the angle, as a part of a whole turn; a single one goes both ways.

    """

    _USE_BASE_FACTOR = True
    _arguments = "factor fill_mode fill_value ..."

    def __init__(self, factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0,
                 data_format=None, **kwargs):
        super().__init__(factor=factor, data_format=data_format, **kwargs)
        self._sampled(fill_mode, interpolation, fill_value, seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw an angle for each image."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        angle = self._draw((batch,), self.factor[0] * 360.0, self.factor[1] * 360.0, seed=seed)
        height, width = self._size_of(shape)
        return {"angle": angle, "image_height": height, "image_width": width, "batch_size": batch}

    def _matrix(self, transformation, height, width):
        turn = K.expand_dims(transformation["angle"] * (math.pi / 180.0), -1)
        cos, sin = K.cos(turn), K.sin(turn)
        x, y = (width - 1) * 0.5, (height - 1) * 0.5
        return _columns(cos, -sin, x - x * cos + y * sin, sin, cos, y - x * sin - y * cos, 0.0, 0.0)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the upright boxes around turned ones."""
        if not training:
            return bounding_boxes
        height, width = transformation["image_height"], transformation["image_width"]
        boxes = boxes_of.rotate(bounding_boxes["boxes"], transformation["angle"], height, width)
        made = boxes_of.clip_to_image_size({**bounding_boxes, "boxes": boxes}, height, width, "xyxy")
        return boxes_of.convert_format(made, "xyxy", self.bounding_box_format, height, width)


class RandomTranslation(AffineLayer):
    """Move images.

    Parameters
    ----------
    height_factor, width_factor : Union[float, Sequence[float]]
        The ranges of the ways, as parts of the image's size; a single one goes both ways.

    """

    def __init__(self, height_factor, width_factor, fill_mode="reflect", interpolation="bilinear", seed=None,
                 fill_value=0.0, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.height_factor = height_factor
        self.height_lower, self.height_upper = range_of(height_factor, (-1.0, 1.0), "height_factor")
        self.width_factor = width_factor
        self.width_lower, self.width_upper = range_of(width_factor, (-1.0, 1.0), "width_factor")
        self._sampled(fill_mode, interpolation, fill_value, seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw the ways for each image."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        height, width = self._size_of(shape)
        down = self._draw((batch, 1), self.height_lower, self.height_upper, seed=seed) * height
        right = self._draw((batch, 1), self.width_lower, self.width_upper, seed=seed) * width
        return {"translations": _columns(right, down), "input_shape": shape}

    def _matrix(self, transformation, height, width):
        ways = transformation["translations"]
        return _columns(1.0, 0.0, -ways[:, 0:1], 0.0, 1.0, -ways[:, 1:], 0.0, 0.0)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return moved boxes."""
        if not training:
            return bounding_boxes
        height, width = self._size_of(transformation["input_shape"])
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "xyxy", height, width)
        ways = transformation["translations"]
        ways = K.expand_dims(ways, 1) if len(made["boxes"].shape) == 3 else ways  # boxes of one image have no batch
        made["boxes"] = K.add(made["boxes"], K.concatenate([ways, ways], axis=-1))
        made = boxes_of.clip_to_image_size(made, height, width, "xyxy")
        return boxes_of.convert_format(made, "xyxy", self.bounding_box_format, height, width)


class RandomZoom(AffineLayer):
    """Scale images about their middle.

    Parameters
    ----------
    height_factor : Union[float, Sequence[float]]
        The range of the change of the height that is seen; negative ones magnify.
    width_factor : Optional[Union[float, Sequence[float]]], optional
        The same for the width, by default what the height has.

    """

    def __init__(self, height_factor, width_factor=None, fill_mode="reflect", interpolation="bilinear", seed=None,
                 fill_value=0.0, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.height_factor = height_factor
        self.height_lower, self.height_upper = range_of(height_factor, (-1.0, 1.0), "height_factor", True)
        self.width_factor = width_factor
        if width_factor is not None:
            self.width_lower, self.width_upper = range_of(width_factor, (-1.0, 1.0), "width_factor", True)
        self._sampled(fill_mode, interpolation, fill_value, seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw the scales for each image."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        down = self._draw((batch, 1), 1.0 + self.height_lower, 1.0 + self.height_upper, seed=seed)
        right = down if self.width_factor is None else self._draw(
            (batch, 1), 1.0 + self.width_lower, 1.0 + self.width_upper, seed=seed)
        return {"height_zoom": down, "width_zoom": right, "input_shape": shape}

    def _matrix(self, transformation, height, width):
        right, down = transformation["width_zoom"], transformation["height_zoom"]
        x, y = (width - 1.0) / 2.0 * (1.0 - right), (height - 1.0) / 2.0 * (1.0 - down)
        return _columns(right, 0.0, x, 0.0, down, y, 0.0, 0.0)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return scaled boxes, cut where nothing is seen of them."""
        if not training:
            return bounding_boxes
        height, width = self._size_of(transformation["input_shape"])
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "xyxy", height, width)
        matrix = K.expand_dims(self._matrix(transformation, height, width), 1)
        left, top = matrix[..., 2:3], matrix[..., 5:6]
        right, bottom = matrix[..., 0:1] * width + left, matrix[..., 4:5] * height + top
        a, b, c, d = boxes_of.parts(made["boxes"])
        a, c = (K.clip(x, left, right) - left for x in (a, c))
        b, d = (K.clip(y, top, bottom) - top for y in (b, d))
        wide, high = right - left, bottom - top
        made["boxes"] = boxes_of.joined(a / wide, b / high, c / wide, d / high)
        made = boxes_of.clip_to_image_size(made, high, wide, "rel_xyxy")
        return boxes_of.convert_format(made, "rel_xyxy", self.bounding_box_format, height, width)


class RandomShear(AffineLayer):
    """Shear images.

    Parameters
    ----------
    x_factor, y_factor : Union[float, Sequence[float]], optional, default=0.0
        The ranges of the slopes along both axes, from 0 to 1; they go both ways.

    """

    _arguments = "x_factor y_factor fill_mode interpolation seed ..."

    def __init__(self, x_factor=0.0, y_factor=0.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0,
                 data_format=None, seed=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.x_factor, self.y_factor = (self._both_ways(factor, name) for factor, name in
                                        ((x_factor, "x_factor"), (y_factor, "y_factor")))
        self._sampled(fill_mode, interpolation, fill_value, seed)

    @staticmethod
    def _both_ways(factor, name):
        # A pair may be what a configuration holds: both ways of a single factor.
        if isinstance(factor, (tuple, list)):
            return range_of(factor, (-1.0, 1.0), name)
        most = range_of(factor, (0.0, 1.0), name)[1]
        return -most, most

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw the slopes for each image."""
        if not training:
            return None
        shape, batch = self._batch_of(data)
        sign = self._draw((batch, 1), seed=seed, dtype=self.compute_dtype)
        sign = K.where(sign > 0.5, -K.ones_like(sign), K.ones_like(sign))
        y = self._draw((batch, 1), *self.y_factor, seed=seed, dtype=self.compute_dtype)
        x = self._draw((batch, 1), *self.x_factor, seed=seed, dtype=self.compute_dtype)
        return {"shear_factor": K.concatenate([x, y], axis=1) * sign, "input_shape": shape}

    def _matrix(self, transformation, height, width):
        slopes = transformation["shear_factor"]
        return _columns(1.0, slopes[:, 0:1], 0.0, slopes[:, 1:], 1.0, 0.0, 0.0, 0.0)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the upright boxes around sheared ones."""
        if not training:
            return bounding_boxes
        height, width = self._size_of(transformation["input_shape"])
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "rel_xyxy", height, width)
        slopes = K.cast(transformation["shear_factor"], self.compute_dtype)
        x, y = slopes[:, 0:1], slopes[:, 1:]
        a, b, c, d = (part[..., 0] for part in boxes_of.parts(made["boxes"]))
        a, c = (K.where(x < 0, a - x * b, a - x * d), K.where(x < 0, c - x * d, c - x * b))
        b, d = (K.where(y > 0, b - y * c, b - y * a), K.where(y > 0, d - y * a, d - y * c))
        made["boxes"] = K.stack([a, b, c, d], axis=-1)
        made = boxes_of.clip_to_image_size(made, height, width, "rel_xyxy")
        return boxes_of.convert_format(made, "rel_xyxy", self.bounding_box_format, height, width)
