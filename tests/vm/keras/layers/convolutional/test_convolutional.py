"""Convolutions beside the genuine ones: layouts, strides, gaps, groups, paddings."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, check_layer, guest, near, plain, random_inputs
from harness.subresults import each

IMAGE = {1: (2, 9, 4), 2: (2, 7, 8, 4), 3: (1, 5, 6, 5, 4)}


def row(name, rank, **config):
    """Return a case whose input fits the rank."""
    return name, config, IMAGE[rank]


ROWS = [
    row("Conv1D", 1, filters=3, kernel_size=3),
    row("Conv1D", 1, filters=3, kernel_size=3, padding="same", strides=2, activation="relu"),
    row("Conv1D", 1, filters=3, kernel_size=3, padding="causal", dilation_rate=2),
    row("Conv1D", 1, filters=4, kernel_size=2, padding="causal", strides=2, groups=2),
    row("Conv2D", 2, filters=3, kernel_size=3),
    row("Conv2D", 2, filters=3, kernel_size=(3, 2), padding="same", strides=2),
    row("Conv2D", 2, filters=3, kernel_size=4, padding="same", strides=(1, 3), use_bias=False),
    row("Conv2D", 2, filters=3, kernel_size=2, padding="same", dilation_rate=(2, 1), activation="tanh"),
    row("Conv2D", 2, filters=4, kernel_size=3, groups=2, kernel_regularizer="l2", activity_regularizer="l1",
        bias_regularizer="l2", kernel_constraint="max_norm", bias_constraint="non_neg", bias_initializer="ones"),
    row("Conv2D", 2, filters=3, kernel_size=1, strides=2, padding="same", kernel_initializer="he_uniform"),
    row("Conv3D", 3, filters=2, kernel_size=2),
    row("Conv3D", 3, filters=2, kernel_size=(3, 2, 1), padding="same", strides=(2, 1, 2)),
    row("Conv1DTranspose", 1, filters=3, kernel_size=3),
    row("Conv1DTranspose", 1, filters=3, kernel_size=2, strides=3, padding="same"),
    row("Conv1DTranspose", 1, filters=3, kernel_size=2, dilation_rate=2, padding="same"),
    row("Conv2DTranspose", 2, filters=3, kernel_size=3, strides=2, padding="same", activation="relu"),
    row("Conv2DTranspose", 2, filters=3, kernel_size=(2, 4), strides=(3, 2)),
    row("Conv2DTranspose", 2, filters=3, kernel_size=3, strides=2, output_padding=1, padding="same"),
    row("Conv2DTranspose", 2, filters=3, kernel_size=4, strides=3, output_padding=1, padding="same"),
    row("Conv2DTranspose", 2, filters=3, kernel_size=3, strides=2, output_padding=(1, 0), use_bias=False),
    row("Conv2DTranspose", 2, filters=2, kernel_size=5, strides=3, padding="same", kernel_regularizer="l1"),
    row("Conv3DTranspose", 3, filters=2, kernel_size=3, strides=2, padding="same"),
    row("Conv3DTranspose", 3, filters=2, kernel_size=2, strides=(1, 2, 1)),
    row("DepthwiseConv1D", 1, kernel_size=3),
    row("DepthwiseConv1D", 1, kernel_size=2, strides=2, padding="same", depth_multiplier=2, activation="relu"),
    row("DepthwiseConv2D", 2, kernel_size=3),
    row("DepthwiseConv2D", 2, kernel_size=(3, 2), strides=2, padding="same", depth_multiplier=3, use_bias=False),
    row("DepthwiseConv2D", 2, kernel_size=2, dilation_rate=2, padding="same", depthwise_regularizer="l2"),
    row("SeparableConv1D", 1, filters=3, kernel_size=3),
    row("SeparableConv1D", 1, filters=3, kernel_size=2, strides=2, padding="same", depth_multiplier=2),
    row("SeparableConv2D", 2, filters=3, kernel_size=3, activation="relu"),
    row("SeparableConv2D", 2, filters=3, kernel_size=2, strides=2, padding="same", depth_multiplier=2, use_bias=False,
        pointwise_regularizer="l2", depthwise_constraint="max_norm"),
]


@each("name, config, shape", ROWS)
def test_channels_last(name, config, shape):
    """Channels behind."""
    check_layer(name, shape, config, mixed="2D" in name)


@each("name, config, shape", ROWS)
def test_channels_first(name, config, shape):
    """Channels in front: what the layer with channels behind gives, with the axes moved."""
    keras = guest("keras")
    inputs = random_inputs(shape)
    moved = np.moveaxis(inputs, -1, 1)
    last = getattr(keras.layers, name)(**config)
    first = getattr(keras.layers, name)(data_format="channels_first", **config)
    made = array(last(inputs))
    first.build(moved.shape)
    first.set_weights([array(weight) for weight in last.weights])
    found = array(first(moved))
    near([np.moveaxis(found, 1, -1)], [made], "outputs")
    assert first.compute_output_shape((None, *moved.shape[1:])) == (None, *found.shape[1:])
    theirs = getattr(genuine.keras.layers, name)(data_format="channels_first", name="probe", **config)
    ours = getattr(keras.layers, name)(data_format="channels_first", name="probe", **config)
    assert plain(ours.get_config()) == plain(theirs.get_config())
    assert tuple(ours.compute_output_shape(moved.shape)) == tuple(theirs.compute_output_shape(moved.shape))


BAD = [
    ("Conv2D", {"filters": 0, "kernel_size": 3}, "filters=0"),
    ("Conv2D", {"filters": 2, "kernel_size": 0}, "kernel_size"),
    ("Conv2D", {"filters": 2, "kernel_size": (3, 3, 3)}, r"kernel_size=\(3, 3, 3\)"),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "strides": 2, "dilation_rate": 2}, "dilation_rate"),
    ("Conv2D", {"filters": 3, "kernel_size": 3, "groups": 2}, "filters=3"),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "groups": -1}, "groups=-1"),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "padding": "causal"}, "causal"),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "data_format": "middle"}, "middle"),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "output_padding": 2}, "output_padding"),
    ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 0}, "depth_multiplier=0"),
    ("SeparableConv2D", {"filters": -1, "kernel_size": 3}, "filters=-1"),
]


@each("name, config, text", BAD)
def test_bad_arguments(name, config, text):
    """Errors tell what was received."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match=text):
            getattr(keras.layers, name)(**config)


def test_too_small_inputs():
    """An image smaller than the window is refused where the layer is built."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match="zero or negative"):
            keras.layers.Conv2D(2, 5)(keras.KerasTensor((None, 3, 3, 1)))
        with pytest.raises(ValueError, match="groups=3"):
            keras.layers.Conv2D(3, 1, groups=3)(keras.KerasTensor((None, 3, 3, 4)))
