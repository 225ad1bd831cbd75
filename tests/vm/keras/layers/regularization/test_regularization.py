"""Layers against overfitting beside the genuine ones, drawing the same numbers."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import check_layer, guest
from harness.subresults import each

ROWS = [
    ("ActivityRegularization", {"l1": 0.1, "l2": 0.2}, (2, 3)),
    ("ActivityRegularization", {}, (2, 3)),
    ("Dropout", {"rate": 0.4, "seed": 3}, (4, 5)),
    ("Dropout", {"rate": 0.0}, (4, 5)),
    ("Dropout", {"rate": 0.5, "seed": 3, "noise_shape": (None, 1, 3)}, (4, 5, 3)),
    ("AlphaDropout", {"rate": 0.4, "seed": 3}, (4, 5)),
    ("AlphaDropout", {"rate": 0.4, "seed": 3, "noise_shape": (4, 1)}, (4, 5)),
    ("GaussianDropout", {"rate": 0.4, "seed": 3}, (4, 5)),
    ("GaussianNoise", {"stddev": 0.4, "seed": 3}, (4, 5)),
    ("SpatialDropout1D", {"rate": 0.5, "seed": 3}, (4, 5, 3)),
    ("SpatialDropout2D", {"rate": 0.5, "seed": 3}, (4, 2, 5, 3)),
    ("SpatialDropout2D", {"rate": 0.5, "seed": 3, "data_format": "channels_first"}, (4, 3, 5, 2)),
    ("SpatialDropout3D", {"rate": 0.5, "seed": 3}, (2, 2, 3, 2, 3)),
]


@each("name, config, shape", ROWS)
def test_regularization(name, config, shape):
    """All of them: the same seed draws the same numbers."""
    check_layer(name, shape, config)


def test_draws_differ():
    """Each call draws anew, inference draws nothing."""
    layer = guest("keras").layers.Dropout(0.5)
    inputs = np.ones((20, 20), "float32")
    first, second = (layer(inputs, training=True).numpy() for _ in range(2))
    assert (first != second).any()
    np.testing.assert_array_equal(layer(inputs).numpy(), inputs)
    assert set(np.unique(first)) == {0.0, 2.0}


BAD = [
    ("Dropout", {"rate": 1.5}), ("Dropout", {"rate": 0.5, "noise_shape": "none"}),
    ("Dropout", {"rate": 0.5, "noise_shape": (1, -1)}), ("Dropout", {"rate": 0.5, "noise_shape": (1, 2.0)}),
    ("Dropout", {"rate": 0.5, "noise_shape": 3}), ("AlphaDropout", {"rate": -0.1}), ("GaussianNoise", {"stddev": 2}),
]


@pytest.mark.parametrize("name, config", BAD)
def test_bad_arguments(name, config):
    """Errors tell what was received."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match="Received"):
            getattr(keras.layers, name)(**config)
