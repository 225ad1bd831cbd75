"""Layers that prepare images, beside the genuine ones: the same seeds give the same images, boxes and labels."""
import json
import random

import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, guest, plain
from harness.subresults import each

DRAW = np.random.default_rng(0)
IMAGES = (DRAW.random((3, 12, 10, 3)) * 255).astype("float32")
# Smooth, so that rounding a place to another pixel changes little.
SMOOTH = np.stack([np.add.outer(np.arange(12.0) * 7, np.arange(10.0) * 5 + 9 * c) for c in range(3)], -1)
SMOOTH = np.stack([SMOOTH, SMOOTH[::-1], 200 - SMOOTH]).astype("float32")
BOXES = np.array([[[1, 2, 6, 8], [0, 0, 4, 4]], [[2, 3, 9, 11], [1, 1, 2, 2]], [[3, 1, 8, 5], [0, 2, 5, 9]]], "float32")

ROWS = [
    ("RandomFlip", {}), ("RandomFlip", {"mode": "horizontal"}), ("RandomFlip", {"mode": "vertical"}),
    ("RandomRotation", {"factor": 0.2}),
    ("RandomRotation", {"factor": (0.1, 0.3), "fill_mode": "constant", "fill_value": 7.0}),
    ("RandomRotation", {"factor": 0.2, "fill_mode": "nearest"}),
    ("RandomRotation", {"factor": 0.2, "fill_mode": "wrap"}),
    ("RandomTranslation", {"height_factor": 0.2, "width_factor": (-0.3, 0.1)}),
    ("RandomZoom", {"height_factor": (-0.3, 0.2)}), ("RandomZoom", {"height_factor": 0.3, "width_factor": 0.2}),
    ("RandomShear", {"x_factor": 0.3, "y_factor": 0.1}),
    ("RandomContrast", {"factor": 0.4}), ("RandomContrast", {"factor": (0.1, 0.9)}),
    ("RandomBrightness", {"factor": 0.3}), ("RandomBrightness", {"factor": (0.1, 0.5), "value_range": (0, 200)}),
    ("RandomCrop", {"height": 7, "width": 6}), ("RandomCrop", {"height": 14, "width": 6}),
    ("CenterCrop", {"height": 7, "width": 6}), ("CenterCrop", {"height": 14, "width": 6}),
    ("Resizing", {"height": 6, "width": 15}), ("Resizing", {"height": 6, "width": 15, "interpolation": "nearest"}),
    ("Resizing", {"height": 6, "width": 5, "crop_to_aspect_ratio": True}),
    ("Resizing", {"height": 9, "width": 16, "pad_to_aspect_ratio": True, "fill_value": 3.0}),
    ("Resizing", {"height": 5, "width": 5, "interpolation": "bicubic", "antialias": True}),
    ("RandomHue", {"factor": 0.3}), ("RandomSaturation", {"factor": (0.2, 0.8)}),
    ("RandomColorDegeneration", {"factor": 0.6}), ("RandomGrayscale", {"factor": 0.5}),
    ("RandomInvert", {"factor": 0.7}), ("RandomPosterization", {"factor": 3}),
    ("RandomPosterization", {"factor": (2, 6)}), ("RandomSharpness", {"factor": 0.8}),
    ("RandomColorJitter", {"brightness_factor": 0.2, "contrast_factor": 0.3, "saturation_factor": (0.3, 0.7),
                           "hue_factor": 0.2}),
    ("AutoContrast", {}), ("AutoContrast", {"value_range": (0, 300)}),
    ("Equalization", {}), ("Solarization", {"addition_factor": 0.3, "threshold_factor": (0.2, 0.7)}),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"tile_grid_size": (3, 2)}),
    ("CutMix", {}), ("MixUp", {}), ("RandomErasing", {}), ("RandomErasing", {"fill_value": 3.0, "factor": 0.5}),
    ("RandomGaussianBlur", {"factor": 0.8}), ("RandomPerspective", {"factor": 1.0, "scale": 0.4}),
    ("RandomElasticTransform", {}),
    ("RandAugment", {}), ("RandAugment", {"num_ops": 3, "factor": 0.3}), ("AugMix", {}), ("AugMix", {"all_ops": False}),
]


def side(keras, name, config, seed):
    """Return a layer of one side, and the arguments that it was made with."""
    keras.utils.set_random_seed(4)
    seeded = name not in ("CenterCrop", "Resizing", "AutoContrast", "Equalization", "MaxNumBoundingBoxes",
                          "ContrastLimitedAdaptiveHistogramEqualization")
    return getattr(keras.layers, name)(name="probe", **config, **({"seed": seed} if seeded else {}))


def both(name, config, run, seed=7):
    """Return what a function of a layer and a TensorFlow gives on both sides."""
    found = []
    for keras, tf in ((guest("keras"), guest("tensorflow")), (genuine.keras, genuine.tf)):
        layer = side(keras, name, config, seed)
        random.seed(3)
        found.append((layer, run(layer, tf)))
    return found


def near(ours, theirs, what):
    """Compare arrays; one pixel in fifty may have fallen on the other side of a border."""
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, what
    apart = np.abs(ours.astype("float64") - theirs) > 1e-2 + 1e-3 * np.abs(theirs)
    assert apart.mean() <= 0.02, f"{what}: {apart.mean():.3f} apart, most {np.abs(ours - theirs).max()}"


@each("images", [IMAGES, SMOOTH], ids=["noise", "smooth"])
@each("name, config", ROWS, size=25)
def test_images(name, config, images):
    """Batches in training, one call after another, and in inference; configurations."""
    def run(layer, tf):
        x = tf.constant(images)
        return [array(layer(x)), array(layer(x)), array(layer(x, training=False))]
    (ours, made), (theirs, wanted) = both(name, config, run)
    for place, (one, other) in enumerate(zip(made, wanted)):
        near(one, other, f"{name} {place}")
    assert plain(ours.get_config()) == plain(theirs.get_config())
    again = type(ours).from_config(json.loads(json.dumps(ours.get_config())))
    assert plain(again.get_config()) == plain(theirs.get_config())


SINGLE = [row for row in ROWS if row[0] not in ("CutMix", "RandomErasing", "RandomHue", "RandomSaturation")]


@each("name, config", SINGLE)
def test_single_images(name, config):
    """One image at a time."""
    def run(layer, tf):
        return [array(layer(tf.constant(SMOOTH[0])))]
    (_, made), (_, wanted) = both(name, config, run)
    near(made[0], wanted[0], name)


@each("name, config", [
    ("RandomFlip", {}), ("RandomTranslation", {"height_factor": 0.2, "width_factor": 0.3}),
    ("RandomZoom", {"height_factor": 0.3, "width_factor": 0.2}), ("RandomRotation", {"factor": 0.1}),
    ("RandomShear", {"x_factor": 0.2, "y_factor": 0.3}), ("CenterCrop", {"height": 7, "width": 6}),
    ("CenterCrop", {"height": 14, "width": 6}), ("RandomCrop", {"height": 7, "width": 6}),
    ("Resizing", {"height": 6, "width": 20}), ("Resizing", {"height": 6, "width": 20, "pad_to_aspect_ratio": True}),
    ("Resizing", {"height": 6, "width": 20, "crop_to_aspect_ratio": True}), ("RandomContrast", {"factor": 0.4}),
    ("MaxNumBoundingBoxes", {"max_number": 3}), ("MaxNumBoundingBoxes", {"max_number": 1}),
    ("RandomPerspective", {"scale": 0.3}),
])
@each("form", ["xyxy", "rel_xywh"])
def test_boxes(name, config, form):
    """Boxes move with their images, labels of lost ones become -1."""
    boxes = BOXES
    if form == "rel_xywh":
        if name in ("RandomRotation", "RandomPerspective"):
            pytest.skip("genuine Keras reads xyxy only")
        size = np.array([10, 12], "float32")
        boxes = np.concatenate([BOXES[..., :2] / size, (BOXES[..., 2:] - BOXES[..., :2]) / size], -1)

    def run(layer, tf):
        made = layer({"images": tf.constant(SMOOTH),
                      "bounding_boxes": {"boxes": tf.constant(boxes), "labels": tf.constant([[1, 2], [3, 4], [5, 6]])}})
        made = made["bounding_boxes"]
        return [array(made["boxes"]), array(made["labels"])]
    (_, made), (_, wanted) = both(name, {**config, "bounding_box_format": form}, run)
    np.testing.assert_allclose(made[0], wanted[0], rtol=1e-3, atol=2e-3)
    np.testing.assert_array_equal(made[1], wanted[1])


@pytest.mark.parametrize("name", ["CutMix", "MixUp", "RandomFlip", "RandomBrightness"])
def test_labels_and_masks(name):
    """What goes with images in a dictionary."""
    labels, masks = np.eye(3, dtype="float32"), (DRAW.random((3, 12, 10, 3)) > 0.5).astype("float32")

    def run(layer, tf):
        data = {"images": tf.constant(IMAGES), "labels": tf.constant(labels)}
        if name != "MixUp":
            data["segmentation_masks"] = tf.constant(masks)
        made = layer(data)
        return [array(made[key]) for key in data]
    (_, made), (_, wanted) = both(name, {"factor": 0.3} if name == "RandomBrightness" else {}, run)
    for one, other in zip(made, wanted):
        near(one, other, name)


def test_pipelines_of_data():
    """Layers as functions of a dataset, in a pipeline and alone."""
    keras, tf = guest("keras"), guest("tensorflow")
    layer = keras.layers.Pipeline([keras.layers.RandomFlip(seed=1), keras.layers.Resizing(4, 5)])
    data = tf.data.Dataset.from_tensor_slices(IMAGES).batch(2)
    assert [tuple(x.shape) for x in data.map(layer)] == [(2, 4, 5, 3), (1, 4, 5, 3)]


def test_channels_first():
    """The other place of the channels."""
    for name, config in (("RandomFlip", {}), ("RandomContrast", {"factor": 0.3}), ("RandomRotation", {"factor": 0.1}),
                         ("Resizing", {"height": 5, "width": 6}), ("RandomSaturation", {"factor": 0.4})):
        keras, tf = guest("keras"), guest("tensorflow")
        last = array(side(keras, name, {**config, "data_format": "channels_last"}, 1)(tf.constant(SMOOTH)))
        first = side(keras, name, {**config, "data_format": "channels_first"}, 1)(
            tf.constant(SMOOTH.transpose(0, 3, 1, 2)))
        np.testing.assert_allclose(array(first).transpose(0, 2, 3, 1), last, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("make, message", [
    (lambda layers: layers.RandomRotation(2), "factor=2"),
    (lambda layers: layers.RandomBrightness(0.1, value_range=3), "value_range=3"),
    (lambda layers: layers.RandomZoom(-1.0), "height_factor=-1.0"),
    (lambda layers: layers.RandomGaussianBlur(kernel_size=2), "kernel_size=2"),
    (lambda layers: layers.RandomFlip(factor=0.1), "factor=0.1"),
    (lambda layers: layers.RandomFlip()(np.zeros((2, 3), "float32")), "(2, 3)"),
    (lambda layers: layers.RandomGrayscale(2), "factor=2"),
    (lambda layers: layers.RandomFlip()({"images": IMAGES, "bounding_boxes": {}}), "bounding_box_format"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError) as caught:
        make(guest("keras").layers)
    assert message in str(caught.value)


def test_modes_that_are_not_there():
    """Modes are words from a list."""
    with pytest.raises(NotImplementedError, match="fill_mode"):
        guest("keras").layers.RandomRotation(0.1, fill_mode="mirror")
