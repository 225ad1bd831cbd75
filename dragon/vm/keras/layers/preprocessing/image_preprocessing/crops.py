"""Images cut and resized."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.layers.preprocessing.image_preprocessing import bounding_boxes as boxes_of
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import BaseImagePreprocessingLayer
from dragon.vm.keras.random.seed_generator import SeedGenerator, make_default_seed


class _SizedLayer(BaseImagePreprocessingLayer, _USE_BASE_FACTOR=False):
    """A layer whose images have a height and a width of its own."""

    def compute_output_shape(self, input_shape):
        """Return the shape of the input with the layer's size in it."""
        shape = list(input_shape)
        if len(shape) not in (3, 4) or isinstance(shape[0], (list, tuple)):
            raise ValueError("`input_shape` must be a non-nested tuple or list of size 3 (unbatched) or 4 (batched). "
                             f"Received: input_shape={input_shape}")
        _, height, width = self._axes
        shape[height], shape[width] = self.height, self.width
        return tuple(shape)

    def _cut(self, images, top, left, height, width):
        """Return a part of images."""
        rows, columns = slice(top, top + height), slice(left, left + width)
        if self.data_format == "channels_first":
            return images[..., rows, columns]
        return images[..., rows, columns, :]

    def _same_aspect(self, height, width):
        """Return the largest part with the layer's aspect, in the middle: top, left, height, width."""
        high = max(min(height, int(float(width * self.height) / self.width)), 1)
        wide = max(min(width, int(float(height * self.width) / self.height)), 1)
        return int(float(height - high) / 2), int(float(width - wide) / 2), high, wide


class CenterCrop(_SizedLayer):
    """Cut the middle out of images; smaller ones are cut to the aspect and resized. ..."""

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.height = height
        self.width = width

    def get_random_transformation(self, data, training=True, seed=None):
        """Return the shape of the images: nothing is drawn."""
        return {"input_shape": tuple(self._images_of(data).shape)}

    def transform_images(self, images, transformation=None, training=True):
        """Return the middle of images."""
        images = self._computed(images)
        height, width = self._size_of(images.shape)
        if height >= self.height and width >= self.width:
            return self._cut(images, (height - self.height) // 2, (width - self.width) // 2, self.height, self.width)
        images = self._cut(images, *self._same_aspect(height, width))
        # TensorFlow's interpolation gives float32, whatever it is given.
        return K.image.resize(K.cast(images, "float32"), (self.height, self.width), data_format=self.data_format)

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return the middle of masks."""
        return self.transform_images(segmentation_masks, transformation, training=training)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of what is left."""
        height, width = self._size_of(transformation["input_shape"])
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "xyxy", height, width)
        if height >= self.height and width >= self.width:
            top, left = (height - self.height) // 2, (width - self.width) // 2
            high, wide = self.height, self.width
        else:
            top, left, high, wide = self._same_aspect(height, width)
        a, b, c, d = boxes_of.parts(made["boxes"])
        x, y = self.width / wide, self.height / high
        a, c = ((K.clip(part, left, left + wide) - left) * x for part in (a, c))
        b, d = ((K.clip(part, top, top + high) - top) * y for part in (b, d))
        made["boxes"] = boxes_of.joined(a, b, c, d)
        made = boxes_of.clip_to_image_size(made, self.height, self.width, "xyxy")
        return boxes_of.convert_format(made, "xyxy", self.bounding_box_format, self.height, self.width)


class RandomCrop(_SizedLayer):
    """Cut images at a random place, the same one for a whole batch; smaller ones are resized. ..."""

    def __init__(self, height, width, seed=None, data_format=None, name=None, **kwargs):
        super().__init__(name=name, data_format=data_format, **kwargs)
        self.height = height
        self.width = width
        self.seed = make_default_seed() if seed is None else seed
        self.generator = SeedGenerator(seed)
        self.supports_masking = False
        self.supports_jit = False

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw a place; without training it is in the middle."""
        height, width = self._size_of(tuple(self._images_of(data).shape))
        if height is None or width is None:
            raise ValueError("RandomCrop requires the input to have a fully defined height and width. "
                             f"Received: images.shape={self._images_of(data).shape}")
        if not (training and height > self.height and width > self.width):
            return self._same_aspect(height, width)[:2]
        return tuple(K.cast(self._draw((), 0, float(size + 1), seed=seed), "int32")
                     for size in (height - self.height, width - self.width))

    def transform_images(self, images, transformation, training=True):
        """Return a part of images."""
        if not training:
            return images
        images = self._computed(images)
        _, rows, columns = self._axes
        for axis, start, size in ((rows, transformation[0], self.height), (columns, transformation[1], self.width)):
            size = min(size, images.shape[axis])
            # By an index, so that a place that is a tensor need not be read.
            images = K.take(images, K.arange(size, dtype="int32") + start, axis=axis)
        if self._size_of(images.shape) != (self.height, self.width):
            images = K.image.resize(images, (self.height, self.width), data_format=self.data_format)
        return self._computed(images)

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return a part of masks."""
        return self.transform_images(segmentation_masks, transformation)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of what is left."""
        if not training:
            return bounding_boxes
        made = boxes_of.convert_format(bounding_boxes["boxes"], self.bounding_box_format, "xyxy", self.height,
                                       self.width)
        top, left = (K.cast(convert_to_tensor(start), made.dtype) for start in transformation)
        a, b, c, d = boxes_of.parts(made)
        # Rows come off the first number, as genuine Keras has it.
        made = boxes_of.joined(*(K.maximum(part - start, 0) for part, start in ((a, top), (b, left), (c, top),
                                                                                (d, left))))
        made = boxes_of.convert_format(made, "xyxy", self.bounding_box_format, self.height, self.width)
        return {"boxes": made, "labels": bounding_boxes["labels"]}


class Resizing(_SizedLayer):
    """Give images another size.

    Parameters
    ----------
    interpolation : str, optional, default="bilinear"
        That, "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
    crop_to_aspect_ratio, pad_to_aspect_ratio : bool, optional, default=False
        Cut or pad images so that nothing is distorted.
    fill_mode : str, optional, default="constant"
        What images are padded with: a number.
    fill_value : float, optional, default=0.0
        The number.
    antialias : bool, optional, default=False
        Take all pixels into account where images become smaller.

    Examples
    --------
    >>> tuple(keras.layers.Resizing(32, 48)(np.zeros((2, 100, 100, 3))).shape)
    (2, 32, 48, 3)

    """

    def __init__(self, height, width, interpolation="bilinear", crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
                 fill_mode="constant", fill_value=0.0, antialias=False, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.height = height
        self.width = width
        self.interpolation = interpolation
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        self.fill_mode = fill_mode
        self.fill_value = fill_value
        self.antialias = bool(antialias)

    def get_random_transformation(self, data, training=True, seed=None):
        """Return the size of the images: nothing is drawn."""
        return self._size_of(tuple(self._images_of(data).shape))

    def _transform_images(self, images, transformation, interpolation):
        made = K.image.resize(
            images, (self.height, self.width), interpolation=interpolation, antialias=self.antialias,
            data_format=self.data_format, crop_to_aspect_ratio=self.crop_to_aspect_ratio,
            pad_to_aspect_ratio=self.pad_to_aspect_ratio, fill_mode=self.fill_mode, fill_value=self.fill_value)
        if made.dtype == images.dtype:
            return made
        whole = "int" in images.dtype.name
        return K.saturate_cast(K.round(made) if whole else made, images.dtype)

    def transform_images(self, images, transformation=None, training=True):
        """Return resized images."""
        return self._transform_images(images, transformation, self.interpolation)

    def transform_segmentation_masks(self, segmentation_masks, transformation=None, training=True):
        """Return resized masks."""
        return self._transform_images(segmentation_masks, transformation, "nearest")

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of resized images; empty ones become zeros."""
        height, width = transformation
        given = bounding_boxes["boxes"]
        empty = K.logical_or(K.all(given == -1, axis=-1), K.all(given == 0, axis=-1))
        made = boxes_of.convert_format(dict(bounding_boxes), self.bounding_box_format, "xyxy", height, width)
        x, y, left, top = self._placing(height, width)
        a, b, c, d = boxes_of.parts(made["boxes"])
        made["boxes"] = boxes_of.joined(a * x + left, b * y + top, c * x + left, d * y + top)
        made = boxes_of.clip_to_image_size(made, self.height, self.width)
        made["boxes"] = K.where(K.expand_dims(empty, -1), 0.0, made["boxes"])
        return boxes_of.convert_format(made, "xyxy", self.bounding_box_format, self.height, self.width)

    def _placing(self, height, width):
        """Return how places change: two scales and two offsets."""
        if self.pad_to_aspect_ratio:
            scale = min(self.height / height, self.width / width)
            return scale, scale, (self.width - width * scale) // 2, (self.height - height * scale) // 2
        if not self.crop_to_aspect_ratio:
            return self.width / width, self.height / height, 0, 0
        aspect = width / height
        wide, high = ((self.height * aspect, self.height) if aspect > self.width / self.height else
                      (self.width, self.width / aspect))
        return wide / width, high / height, -((wide - self.width) // 2), -((high - self.height) // 2)
