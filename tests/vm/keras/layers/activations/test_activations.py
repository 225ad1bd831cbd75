"""Activations as layers, beside the genuine ones."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import check_layer, guest
from harness.subresults import each

ROWS = [
    ("Activation", {"activation": "relu"}),
    ("Activation", {"activation": "gelu"}),
    ("Activation", {"activation": None}),
    ("ELU", {}),
    ("ELU", {"alpha": 0.5}),
    ("LeakyReLU", {}),
    ("LeakyReLU", {"negative_slope": 0.1}),
    ("PReLU", {}),
    ("PReLU", {"shared_axes": [1, 2], "alpha_initializer": "glorot_uniform", "alpha_regularizer": "l1",
               "alpha_constraint": "non_neg"}),
    ("PReLU", {"shared_axes": 1}),
    ("ReLU", {}),
    ("ReLU", {"max_value": 1.0}),
    ("ReLU", {"max_value": 1.0, "negative_slope": 0.2, "threshold": 0.3}),
    ("Softmax", {}),
    ("Softmax", {"axis": 1}),
    ("Softmax", {"axis": [1, 2]}),
]


@each("name, config", ROWS)
def test_activations(name, config):
    """All of them, forwards and backwards."""
    check_layer(name, (2, 3, 4, 2), config)


@pytest.mark.parametrize("config", [{}, {"axis": 1}, {"axis": [1, 2]}])
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_masked_softmax(config, dtype):
    """What a mask leaves out becomes zero."""
    mask = (np.random.default_rng(0).random((2, 3, 4)) > 0.4)
    mask[0, 0] = True
    tensors = {"mask": mask.astype(dtype)}
    check_layer("Softmax", (2, 3, 4), config, call=tensors, symbolic=False)


BAD = [
    ("ReLU", {"max_value": -1.0}, "max_value=-1.0"),
    ("ReLU", {"negative_slope": None}, "negative_slope=None"),
    ("ReLU", {"threshold": -2.0}, "threshold=-2.0"),
    ("LeakyReLU", {"negative_slope": -0.1}, "negative_slope=-0.1"),
]


@pytest.mark.parametrize("name, config, text", BAD)
def test_bad_arguments(name, config, text):
    """Errors end in what was received."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match=text):
            getattr(keras.layers, name)(**config)
