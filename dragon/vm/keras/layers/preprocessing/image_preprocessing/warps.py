"""Images seen from aside, bent, and blurred."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing import bounding_boxes as boxes_of
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import (
    BaseImagePreprocessingLayer, ColorLayer, check_mode, range_of)

INTERPOLATIONS = ("nearest", "bilinear")
FILLS = ("constant", "nearest", "wrap", "mirror", "reflect")


class RandomPerspective(ColorLayer):
    """Move the corners of images.

    Parameters
    ----------
    scale : float, optional, default=1.0
        How far corners go, as a part of the image.
    fill_value : float, optional, default=0.0
        What is beyond the borders.

    """

    _USE_BASE_FACTOR = False
    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor=1.0, scale=1.0, interpolation="bilinear", fill_value=0.0, seed=None, data_format=None,
                 **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        if not 0.0 <= scale <= 1.0:
            raise ValueError(f"The `scale` argument should be a number in the range [0,1]. Received: scale={scale}")
        check_mode(interpolation, INTERPOLATIONS, "interpolation")
        self.scale = scale
        self.fill_value = fill_value
        self.interpolation = interpolation
        self._seeded(seed)
        self.supports_jit = False

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw corners, and which images are seen from aside."""
        if not training:
            return None
        seed = seed or self.generator
        shape, batch = self._batch_of(data)
        height, width = self._size_of(shape)
        chosen = self._chances(batch, seed)
        ways = self._draw((batch, 4, 2), -0.5 * self.scale, 0.5 * self.scale, seed=seed, dtype=self.compute_dtype)
        start = K.convert_to_tensor([[[0.0, 0.0], [width - 1, 0.0], [0.0, height - 1], [width - 1, height - 1]]],
                                    dtype=self.compute_dtype)
        start = K.broadcast_to(start, (batch, 4, 2))
        return {"apply_perspective": chosen, "start_points": start, "end_points": start + start * ways,
                "input_shape": shape}

    def _transform_images(self, images, transformation, interpolation):
        if transformation is None:
            return images
        made = K.image.perspective_transform(
            images, transformation["start_points"], transformation["end_points"], interpolation=interpolation,
            fill_value=self.fill_value, data_format=self.data_format)
        return K.where(_beside(transformation["apply_perspective"], images), made, images)

    def transform_images(self, images, transformation, training=True):
        """Return images, some of them seen from aside."""
        return BaseImagePreprocessingLayer.transform_images(self, images, transformation, training)

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return the masks of changed images."""
        return BaseImagePreprocessingLayer.transform_segmentation_masks(self, segmentation_masks, transformation,
                                                                        training)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the upright boxes around moved corners."""
        if not training or transformation is None:
            return bounding_boxes
        height, width = self._size_of(transformation["input_shape"])
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "xyxy", height, width)
        forth = _homography(transformation["start_points"], transformation["end_points"])
        a, b, c, d = (part[..., 0] for part in boxes_of.parts(made["boxes"]))
        ones = K.ones_like(a)
        xs, ys = [], []
        for x, y in ((a, b), (c, d), (a, d), (c, b)):
            moved = K.matmul(K.stack([x, y, ones], axis=-1), K.transpose(forth, (0, 2, 1)))
            xs.append(moved[..., 0] / moved[..., 2])
            ys.append(moved[..., 1] / moved[..., 2])
        xs, ys = K.stack(xs, axis=-1), K.stack(ys, axis=-1)
        boxes = K.stack([K.min(xs, -1), K.min(ys, -1), K.max(xs, -1), K.max(ys, -1)], axis=-1)
        chosen = K.reshape(transformation["apply_perspective"], (-1, 1, 1))
        made["boxes"] = K.where(chosen, boxes, made["boxes"])
        return boxes_of.clip_to_image_size(made, height, width, "xyxy")


def _beside(chosen, images):
    """Return what is chosen of a batch as a tensor of the images' rank; a single image may come without a batch."""
    return K.reshape(chosen, (-1,) + (1,) * (len(images.shape) - 1))


def _homography(start, end):
    """Return the matrices `(batch, 3, 3)` that move four points each to four others."""
    x, y = start[..., 0], start[..., 1]
    u, v = end[..., 0], end[..., 1]
    zeros, ones = K.zeros_like(x), K.ones_like(x)
    rows = [K.stack([x, y, ones, zeros, zeros, zeros, -u * x, -u * y], axis=-1),
            K.stack([zeros, zeros, zeros, x, y, ones, -v * x, -v * y], axis=-1)]
    found = K.solve(K.concatenate(rows, axis=1), K.expand_dims(K.concatenate([u, v], axis=1), -1))
    found = K.concatenate([K.squeeze(found, axis=-1), ones[:, :1]], axis=1)
    return K.reshape(found, (-1, 3, 3))


class RandomElasticTransform(BaseImagePreprocessingLayer):
    """Bend images by smooth noise.

    Parameters
    ----------
    scale : Union[float, Sequence[float]], optional, default=1.0
        The range of the strength.
    fill_mode : {"reflect", "constant", "nearest", "wrap", "mirror"}, optional
        What is beyond the borders.

    """

    _USE_BASE_FACTOR = False
    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor=1.0, scale=1.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0,
                 value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        self.scale = range_of(scale, (0, 1), "scale")
        check_mode(interpolation, INTERPOLATIONS, "interpolation")
        check_mode(fill_mode, FILLS, "fill_mode")
        self.interpolation = interpolation
        self.fill_mode = fill_mode
        self.fill_value = fill_value
        self.value_range = value_range
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a strength, and which images are bent."""
        if not training or self.scale[1] == 0 or self.factor[1] == 0:
            return None
        seed = seed or self.generator
        _, batch = self._batch_of(data)
        chosen = self._chances(batch, seed)
        strength = self._draw((), *self.scale, seed=seed, dtype=self.compute_dtype)
        return {"apply_transform": chosen, "distortion_factor": strength, "seed": seed}

    def _transform_images(self, images, transformation, interpolation):
        if transformation is None:
            return images
        height, width = self._size_of(images.shape)
        strength = transformation["distortion_factor"]
        made = K.image.elastic_transform(
            images, alpha=max(height, width) * 0.1 * strength, sigma=min(height, width) * 0.05 * strength,
            interpolation=interpolation, fill_mode=self.fill_mode, fill_value=self.fill_value,
            seed=transformation["seed"], data_format=self.data_format)
        chosen = _beside(transformation["apply_transform"], images)
        return self._computed(K.clip(K.where(chosen, made, images), *self.value_range))


class RandomGaussianBlur(ColorLayer):
    """Blur images.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, int]], optional, default=3
        The size of the window, odd.
    sigma : Union[float, Sequence[float]], optional, default=1.0
        The range of the deviation, between 0 and 1.

    """

    _USE_BASE_FACTOR = False
    _FACTOR_BOUNDS = (0, 1)
    _arguments = "factor ..."

    def __init__(self, factor=1.0, kernel_size=3, sigma=1.0, value_range=(0, 255), data_format=None, seed=None,
                 **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self._set_factor(factor)
        sizes = tuple(kernel_size) if isinstance(kernel_size, (tuple, list)) else (kernel_size, kernel_size)
        if len(sizes) != 2 or any(size % 2 == 0 for size in sizes):
            raise ValueError("kernel_size must be an odd number, or a list of two such. "
                             f"Received: kernel_size={kernel_size}")
        self.kernel_size = sizes
        self.sigma = range_of(sigma, (0, 1), "sigma")
        self.value_range = value_range
        self._seeded(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw deviations, and which images are blurred."""
        if not training:
            return None
        seed = seed or self.generator
        chosen = self._chances(self._batch_of(data)[1], seed)
        return {"should_apply_blur": chosen,
                "blur_factor": self._draw((2,), *self.sigma, seed=seed, dtype=self.compute_dtype) + 1e-6}

    def transform_images(self, images, transformation=None, training=True):
        """Return images, some of them blurred."""
        images = self._computed(images)
        if not training or transformation is None:
            return images
        made = K.image.gaussian_blur(images, kernel_size=self.kernel_size, sigma=transformation["blur_factor"],
                                     data_format=self.data_format)
        chosen = K.reshape(transformation["should_apply_blur"], (-1, 1, 1, 1))
        return self._computed(K.clip(K.where(chosen, made, images), *self.value_range))
