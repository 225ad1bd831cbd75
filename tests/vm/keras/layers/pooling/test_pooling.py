"""Pools beside the genuine ones: windows, paddings, layouts, parts, everything."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, check_layer, guest, near, random_inputs
from harness.subresults import each

IMAGE = {"1D": (2, 9, 3), "2D": (2, 7, 8, 3), "3D": (1, 5, 6, 7, 2)}
WINDOWS = [{"pool_size": 2}, {"pool_size": 3, "strides": 2, "padding": "same"}, {"pool_size": 3, "strides": 1},
           {"pool_size": 2, "padding": "same"}, {"pool_size": 4, "strides": 3, "padding": "same"}]


@each("config", WINDOWS)
@each("rank", sorted(IMAGE))
@each("kind", ["Average", "Max"])
def test_windows(kind, rank, config):
    """Means and maxima of windows."""
    check_layer(f"{kind}Pooling{rank}", IMAGE[rank], config, mixed=rank != "3D")


@each("keepdims", [False, True])
@each("data_format", ["channels_last", "channels_first"])
@each("rank", sorted(IMAGE))
@each("kind", ["Average", "Max"])
def test_everything(kind, rank, data_format, keepdims):
    """Means and maxima of whole images."""
    check_layer(f"Global{kind}Pooling{rank}", IMAGE[rank], {"data_format": data_format, "keepdims": keepdims})


def test_masked_average():
    """Means of the steps that a mask leaves."""
    mask = np.array([[True, True, False], [True, False, False]])
    check_layer("GlobalAveragePooling1D", (2, 3, 4), masks=mask)
    check_layer("GlobalAveragePooling1D", (2, 4, 3), {"data_format": "channels_first", "keepdims": True}, masks=mask)


@each("size", [1, 2, 3, 5])
@each("rank", sorted(IMAGE))
@each("kind", ["Average", "Max"])
def test_parts(kind, rank, size):
    """Means and maxima of nearly equal parts."""
    if kind == "Max" and size == 1:
        # One part dies of a division by zero in genuine TensorFlow: it is what a pool over everything gives.
        inputs, layers = random_inputs(IMAGE[rank]), guest("keras").layers
        whole = getattr(layers, f"GlobalMaxPooling{rank}")(keepdims=True)(inputs)
        near([array(getattr(layers, f"AdaptiveMaxPooling{rank}")(1)(inputs))], [array(whole)], "maxima")
        return
    check_layer(f"Adaptive{kind}Pooling{rank}", IMAGE[rank], {"output_size": size}, mixed=False)


@each("name, config", [
    ("AveragePooling", {"pool_size": 2}), ("MaxPooling", {"pool_size": 3, "strides": 2, "padding": "same"}),
    ("AdaptiveMaxPooling", {"output_size": 2})])
@each("rank", sorted(IMAGE))
def test_channels_first(name, config, rank):
    """Channels in front: what channels behind give, with the axes moved."""
    inputs = random_inputs(IMAGE[rank])
    make = getattr(guest("keras").layers, name + rank)
    moved = make(data_format="channels_first", **config)(np.moveaxis(inputs, -1, 1))
    near([np.moveaxis(array(moved), 1, -1)], [array(make(**config)(inputs))], "outputs")
    shape = (None, *np.moveaxis(inputs, -1, 1).shape[1:])
    theirs = getattr(genuine.keras.layers, name + rank)(data_format="channels_first", **config)
    ours = make(data_format="channels_first", **config)
    assert ours.compute_output_shape(shape) == theirs.compute_output_shape(shape)


BAD = [
    ("MaxPooling2D", {"pool_size": 0}, ValueError), ("MaxPooling2D", {"pool_size": (2, 2, 2)}, ValueError),
    ("AveragePooling1D", {"pool_size": 2, "strides": -1}, ValueError),
    ("AdaptiveMaxPooling1D", {"output_size": (1, 2)}, ValueError),
    ("AdaptiveMaxPooling2D", {"output_size": (1, 2, 3)}, TypeError),
    ("AdaptiveAveragePooling1D", {"output_size": "a"}, TypeError),
]


@pytest.mark.parametrize("name, config, kind", BAD)
def test_bad_arguments(name, config, kind):
    """Errors of the same kind."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(kind):
            getattr(keras.layers, name)(**config)


def test_bad_padding():
    """An unknown padding is refused in the call."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match="padding=full"):
            keras.layers.MaxPooling2D(padding="full")(keras.KerasTensor((None, 4, 4, 1)))
