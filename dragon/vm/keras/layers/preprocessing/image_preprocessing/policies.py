"""Random changes after one another: RandAugment and AugMix; and the number of boxes in an image."""

import random as python_random

from dragon.vm.keras import ops as K
from dragon.vm.keras.layers.preprocessing.image_preprocessing.affine import (
    RandomRotation, RandomShear, RandomTranslation)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.base import BaseImagePreprocessingLayer, ColorLayer
from dragon.vm.keras.layers.preprocessing.image_preprocessing.colors import (
    RandomColorDegeneration, RandomPosterization, RandomSharpness)
from dragon.vm.keras.layers.preprocessing.image_preprocessing.histograms import Equalization
from dragon.vm.keras.layers.preprocessing.image_preprocessing.light import (
    AutoContrast, RandomBrightness, RandomContrast, Solarization)

# Made in this order, each with the arguments that it takes.
MOVES = {"random_shear": (RandomShear, ("x_factor", "y_factor")),
         "random_translation": (RandomTranslation, ("height_factor", "width_factor")),
         "random_rotation": (RandomRotation, ("factor",))}
LIGHTS = {"random_brightness": RandomBrightness, "random_color_degeneration": RandomColorDegeneration,
          "random_contrast": RandomContrast, "random_sharpness": RandomSharpness}


class _PolicyLayer(BaseImagePreprocessingLayer, _USE_BASE_FACTOR=False, _FACTOR_BOUNDS=(0, 1)):
    """The base of layers that apply other layers."""

    def _make(self, names, kwargs):
        """Make the layers of these names as attributes, in this order."""
        shared = {"seed": self.seed, "data_format": self.data_format, **kwargs}
        ranged = {**shared, "value_range": self.value_range}
        for name in names:
            if name in MOVES:
                kind, factors = MOVES[name]
                made = kind(**dict.fromkeys(factors, self.factor), interpolation=self.interpolation, **shared)
            elif name in LIGHTS:
                made = LIGHTS[name](factor=self.factor, **ranged)
            elif name == "solarization":
                made = Solarization(addition_factor=self.factor, threshold_factor=self.factor, **ranged)
            elif name == "random_posterization":
                made = RandomPosterization(factor=max(1, int(8 * self.factor[1])), **ranged)
            else:
                del (plain := dict(ranged))["seed"]
                made = {"auto_contrast": AutoContrast, "equalization": Equalization}[name](**plain)
            setattr(self, name, made)

    def build(self, input_shape):
        """Build the layers."""
        for name in self._augment_layers:
            getattr(self, name).build(input_shape)


class RandAugment(_PolicyLayer):
    """Apply a few of many changes, the same ones to a whole batch.

    Parameters
    ----------
    num_ops : int, optional, default=2
        How many changes.
    factor : Union[float, Sequence[float]], optional, default=0.5
        The range of their strength, between 0 and 1.

    """

    _arguments = "... factor interpolation seed"
    _AUGMENT_LAYERS = ["random_shear", "random_translation", "random_rotation", "random_brightness",
                       "random_color_degeneration", "random_contrast", "random_sharpness", "random_posterization",
                       "solarization", "auto_contrast", "equalization"]

    def __init__(self, value_range=(0, 255), num_ops=2, factor=0.5, interpolation="bilinear", seed=None,
                 data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.num_ops = num_ops
        self._set_factor(factor)
        self.interpolation = interpolation
        self._seeded(seed)
        self._make(("random_shear", "random_translation", "random_rotation", "random_brightness",
                    "random_color_degeneration", "random_contrast", "random_sharpness", "solarization",
                    "random_posterization", "auto_contrast", "equalization"), kwargs)

    _augment_layers = property(lambda self: self._AUGMENT_LAYERS)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw which changes are made, and the details of all."""
        from dragon.vm.keras import random
        if not training:
            return None
        chosen = random.randint((self.num_ops,), 0, len(self._AUGMENT_LAYERS), seed=self.generator)
        drawn = {name: getattr(self, name).get_random_transformation(data, training=training, seed=self.generator)
                 for name in self._AUGMENT_LAYERS}
        return {"transforms": drawn, "layer_idxes": chosen}

    def _each(self, transformation):
        """Return for each change in turn whether it is made, its layer and its details."""
        for step in range(self.num_ops):
            for place, (name, drawn) in enumerate(transformation["transforms"].items()):
                yield transformation["layer_idxes"][step] == place, getattr(self, name), drawn

    def transform_images(self, images, transformation, training=True):
        images = self._computed(images)
        for made, layer, drawn in self._each(transformation) if training else ():
            images = K.where(made, layer.transform_images(images, drawn), images)
        return self._computed(images)

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        for made, layer, drawn in self._each(transformation) if training else ():
            moved = layer.transform_bounding_boxes(dict(bounding_boxes), drawn)
            bounding_boxes = {key: K.where(made, moved[key], value) for key, value in bounding_boxes.items()}
        return bounding_boxes

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        for made, layer, drawn in self._each(transformation) if training else ():
            moved = layer.transform_segmentation_masks(segmentation_masks, drawn)
            segmentation_masks = K.where(made, moved, segmentation_masks)
        return segmentation_masks


class AugMix(_PolicyLayer, ColorLayer):
    """Blend images with what chains of changes make of them.

    Parameters
    ----------
    num_chains, chain_depth : int, optional, default=3
        How many chains, and how many changes at most in each.
    factor : Union[float, Sequence[float]], optional, default=0.3
        The range of the strength of changes, between 0 and 1.
    alpha : float, optional, default=1.0
        The parameter of the distributions that the weights are from.
    all_ops : bool, optional, default=True
        Change light and colours too.

    """

    _arguments = "value_range num_chains chain_depth factor ..."

    def __init__(self, value_range=(0, 255), num_chains=3, chain_depth=3, factor=0.3, alpha=1.0, all_ops=True,
                 interpolation="bilinear", seed=None, data_format=None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.value_range = value_range
        self.num_chains = num_chains
        self.chain_depth = chain_depth
        self._set_factor(factor)
        self.alpha = alpha
        self.all_ops = all_ops
        self.interpolation = interpolation
        self._seeded(seed)
        lights = list(LIGHTS) if all_ops else []
        self._augment_layers = [*MOVES, "random_posterization", "solarization", "auto_contrast", "equalization",
                                *lights]
        self._make((*MOVES, "solarization", "random_posterization", "auto_contrast", "equalization", *lights), kwargs)

    def get_random_transformation(self, data, training=True, seed=None):
        """Draw chains and weights."""
        from dragon.vm.keras import random
        if not training:
            return None
        seed = seed or self.generator
        weights = random.gamma((self.num_chains,), self.alpha, seed=seed)
        weights = weights / K.sum(weights, axis=-1, keepdims=True)
        share = random.beta((), self.alpha, self.alpha, seed=seed)
        return {"chain_mixing_weights": weights, "weight_sample": share,
                "chain_transforms": [self._drawn_chain(data) for _ in range(self.num_chains)]}

    def _drawn_chain(self, data):
        chain = []
        for _ in range(self.chain_depth):
            name = python_random.choice(list(self._augment_layers) + [None])
            if name is not None:
                drawn = getattr(self, name).get_random_transformation(data, seed=self.generator)
                chain.append({"layer_name": name, "transformation": drawn})
        return chain

    def _mixed(self, x, transformation, method):
        """Return something blended with what the chains make of it."""
        weights, share = (self._computed(transformation[name]) for name in ("chain_mixing_weights", "weight_sample"))
        total = K.zeros_like(x)
        for place, chain in enumerate(transformation["chain_transforms"]):
            changed = x
            for step in chain:
                changed = getattr(getattr(self, step["layer_name"]), method)(changed, step["transformation"])
            total = total + changed * weights[place]
        return share * x + (1 - share) * total

    def transform_images(self, images, transformation, training=True):
        """Return blended images."""
        images = self._computed(images)
        if not training:
            return images
        images = self._mixed(images, transformation, "transform_images")
        return self._computed(K.clip(images, *self.value_range))

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """Return blended masks."""
        return self._mixed(segmentation_masks, transformation, "transform_segmentation_masks") if training else \
            segmentation_masks


class MaxNumBoundingBoxes(ColorLayer):
    """Cut or pad the boxes of images to one number.

    Parameters
    ----------
    max_number : int
        The number.
    fill_value : int, optional, default=-1
        What boxes and labels are padded with.

    """

    _arguments = "max_number"

    def __init__(self, max_number, fill_value=-1, **kwargs):
        super().__init__(**kwargs)
        self.max_number = int(max_number)
        self.fill_value = int(fill_value)

    def transform_images(self, images, transformation=None, training=True):
        """Return the images."""
        return images

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """Return so many boxes and labels."""
        boxes, labels = bounding_boxes["boxes"][:, :self.max_number], bounding_boxes["labels"][:, :self.max_number]
        missing = self.max_number - boxes.shape[1]
        return {**bounding_boxes,
                "boxes": K.pad(boxes, ((0, 0), (0, missing), (0, 0)), constant_values=self.fill_value),
                "labels": K.pad(labels, ((0, 0), (0, missing)), constant_values=self.fill_value)}

    def compute_output_shape(self, input_shape):
        """Return the shapes of the inputs, with the number of boxes in them."""
        if isinstance(input_shape, dict) and "bounding_boxes" in input_shape:
            shapes = dict(input_shape["bounding_boxes"])
            more = set(shapes) - {"boxes", "labels"}
            if more:
                raise KeyError(f"There are unsupported keys in `bounding_boxes`: {list(more)}. Only `boxes` and "
                               "`labels` are supported.")
            shapes = {key: [*shape[:1], self.max_number, *shape[2:]] for key, shape in shapes.items()}
            input_shape = {**input_shape, "bounding_boxes": shapes}
        return input_shape
