"""The parts that layers for images share: one image or many, boxes and masks that go with them, ranges of factors."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.config import image_data_format
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer
from dragon.vm.keras.layers.preprocessing.image_preprocessing import bounding_boxes as boxes_of
from dragon.vm.keras.random.seed_generator import SeedGenerator
from dragon.vm.shared.letters import expect


def range_of(factor, bounds, name="factor", is_open_below=False):
    """Return a factor as its lower and upper ends, or raise for one that is out of bounds."""
    least, most = bounds
    ends = factor if isinstance(factor, (tuple, list)) else (factor,)
    fits = len(ends) == (2 if isinstance(factor, (tuple, list)) else 1) and all(
        isinstance(end, (int, float)) and not end > most and (end > least if is_open_below else end >= least)
        for end in ends)
    if not fits:
        raise ValueError(f"The `{name}` argument should be a number (or a list of two numbers) in the range "
                         f"[{least}, {most}]. Received: {name}={factor}")
    if len(ends) == 2:
        return tuple(sorted(ends))
    return max(-abs(factor), least), abs(factor)


def value_range_of(value_range):
    """Return the range of an image's numbers as a sorted list, or raise for what is none."""
    if not isinstance(value_range, (tuple, list)) or len(value_range) != 2:
        raise ValueError("The `value_range` argument should be a list of two numbers. "
                         f"Received: value_range={value_range}")
    return sorted(value_range)


def check_mode(value, choices, name):
    """Raise unless a word is one of those that are there."""
    if value not in choices:
        raise NotImplementedError(f"Unknown `{name}` {value}. Expected of one {choices}.")


class BaseImagePreprocessingLayer(DataLayer):
    """A layer that changes images, alone or in a dictionary with labels, boxes and masks.

    Subclasses say by `_transform_images` what becomes of a batch of images; by default labels stay as they are, and
    masks are changed as images, without mixing numbers.

    Parameters
    ----------
    factor : Optional[Union[float, Sequence[float]]], optional
        How strong the change is.
    bounding_box_format : Optional[str], optional
        Of the boxes in the inputs.

    """

    _RANKS = "Expected image tensor to have rank 3 (single image) or 4 (batch of images)"
    _USE_BASE_FACTOR = True
    _FACTOR_BOUNDS = (-1, 1)
    _arguments = "data_format bounding_box_format?"

    def __init__(self, factor=None, bounding_box_format=None, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.bounding_box_format = bounding_box_format
        self.data_format = data_format or image_data_format()
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError("The `data_format` argument must be one of 'channels_first', 'channels_last'. "
                             f"Received: {data_format}")
        if self._USE_BASE_FACTOR:
            self._set_factor(factor or 0.0)
        elif factor is not None:
            raise ValueError(f"Layer {type(self).__name__} does not take a `factor` argument. "
                             f"Received: factor={factor}")

    def _set_factor(self, factor):
        self.factor = range_of(factor, self._FACTOR_BOUNDS)

    def _seeded(self, seed):
        """Keep a seed, and make the generator of draws."""
        self.seed = seed
        self.generator = SeedGenerator(seed)

    # --- shapes

    _axes = property(lambda self: (-3, -2, -1) if self.data_format == "channels_first" else (-1, -3, -2),
                     doc="Axes of channels, height and width, counted from the end.")

    def _size_of(self, shape):
        """Return the height and width in a shape of images."""
        _, height, width = self._axes
        return shape[height], shape[width]

    @staticmethod
    def _images_of(data):
        return data["images"] if isinstance(data, dict) else data

    def _batch_of(self, data):
        """Return the shape of the images in the data, and how many there are."""
        shape = tuple(self._images_of(data).shape)
        self._is_batched(self._images_of(data))
        return shape, 1 if len(shape) == 3 else shape[0]

    def _draw(self, shape, low=0.0, high=1.0, seed=None, dtype=None):
        """Draw uniform numbers."""
        from dragon.vm.keras import random
        return random.uniform(shape, minval=low, maxval=high, dtype=dtype, seed=self.generator if seed is None
                              else seed)

    def _chances(self, batch, seed):
        """Draw which images of a batch are changed, where the factor is the range of a probability."""
        likely = self._draw((batch,), *self.factor, seed=seed)
        return self._draw((batch,), seed=seed) < likely

    def _is_batched(self, images):
        shape = images.shape
        if len(shape) not in (3, 4):
            raise ValueError(f"{self._RANKS}. Received: data.shape={tuple(shape)}")
        return len(shape) == 4

    def _computed(self, images):
        return K.cast(images, self.compute_dtype)

    # --- what subclasses say

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw what is to become of the data."""
        return None

    def _transform_images(self, images, transformation, interpolation):
        raise NotImplementedError(f"{type(self).__name__} has no `_transform_images`")

    def transform_images(self, images, transformation, training=True):
        """Return changed images."""
        images = self._computed(images)
        return self._transform_images(images, transformation, self.interpolation) if training else images

    def transform_labels(self, labels, transformation, training=True):
        """Return the labels of changed images."""
        return labels

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes of changed images."""
        raise NotImplementedError(f"{type(self).__name__} does not support bounding boxes")

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return the masks of changed images."""
        return self._transform_images(segmentation_masks, transformation, "nearest") if training else \
            segmentation_masks

    # --- calls

    def _one(self, function, x, transformation, training):
        """Apply what is for a batch to a single one."""
        made = function(K.expand_dims(x, axis=0), transformation=transformation, training=training)
        return K.squeeze(made, axis=0)

    def transform_single_image(self, image, transformation, training=True):
        """Return a changed image."""
        return self._one(self.transform_images, image, transformation, training)

    def transform_single_label(self, label, transformation, training=True):
        """Return the label of a changed image."""
        return self._one(self.transform_labels, label, transformation, training)

    def transform_single_bounding_box(self, bounding_box, transformation, training=True):
        """Return the boxes of a changed image."""
        expect(bounding_box, dict, "transform_single_bounding_box", "bounding_box")
        batch = {key: K.expand_dims(value, axis=0) for key, value in bounding_box.items()}
        made = self.transform_bounding_boxes(batch, transformation=transformation, training=training)
        return {key: K.squeeze(value, axis=0) for key, value in made.items()}

    def transform_single_segmentation_mask(self, segmentation_mask, transformation, training=True):
        """Return the mask of a changed image."""
        return self._one(self.transform_segmentation_masks, segmentation_mask, transformation, training)

    def call(self, data, training=True):
        """Change images, and what is with them in a dictionary."""
        if not isinstance(data, dict):
            data = convert_to_tensor(data)
            transformation = self.get_random_transformation(data, training=training)
            change = self.transform_images if self._is_batched(data) else self.transform_single_image
            return change(data, transformation=transformation, training=training)
        if "images" not in data:
            raise ValueError(f"A dictionary for {type(self).__name__} must have the key 'images'. "
                             f"Received: a dictionary with the keys {list(data)}")
        data = dict(data)
        data["images"] = convert_to_tensor(data["images"])
        transformation = self.get_random_transformation(data, training=training)
        batched = self._is_batched(data["images"])
        changes = {"images": ("images", "single_image"), "bounding_boxes": ("bounding_boxes", "single_bounding_box"),
                   "labels": ("labels", "single_label"),
                   "segmentation_masks": ("segmentation_masks", "single_segmentation_mask")}
        for key, (many, one) in changes.items():
            if key not in data:
                continue
            value = self._dense_boxes(data[key]) if key == "bounding_boxes" else convert_to_tensor(data[key])
            change = getattr(self, "transform_" + (many if batched else one))
            data[key] = change(value, transformation=transformation, training=training)
        return data

    def _dense_boxes(self, bounding_boxes):
        if not self.bounding_box_format:
            raise ValueError("You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
                             f"format. Pass a `bounding_box_format` argument to your {type(self).__name__} layer. "
                             f"Received: bounding_box_format={self.bounding_box_format}")
        return boxes_of.densify(bounding_boxes)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    # --- ranges of numbers

    def _transform_value_range(self, images, original_range, target_range, dtype="float32"):
        """Return numbers of one range in another."""
        (a, b), (c, d) = original_range, target_range
        if a == c and b == d:
            return images
        return (K.cast(images, dtype) - a) / (b - a) * (d - c) + c


class ColorLayer(BaseImagePreprocessingLayer):
    """A layer that changes the numbers of images and moves nothing: boxes and masks stay as they are."""

    _RANKS = "Expected the input image to be rank 3 or 4"

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return the boxes."""
        return bounding_boxes

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return the masks."""
        return segmentation_masks
