"""Rows of an embedding that occur twice in a batch count together, as on Keras's PyTorch backend."""
import numpy as np
import pytest

from dragon.vm import keras
from harness.subresults import each

# What Keras 3.15.1 on PyTorch 2.13 ends with: sums of magnitudes. On TensorFlow, which squares each occurrence for
# itself, Adam ends with 11.7581 and Adamax with 13.1428.
WANTED = {"SGD": 13.7046, "Adam": 12.07874, "RMSprop": 11.58273, "Adagrad": 13.55044, "Adadelta": 13.81122,
          "Adamax": 12.33916, "Nadam": 12.64801, "Ftrl": 0.12399, "Lion": 12.46071, "Adafactor": 12.59805}


@each("name", WANTED)
def test_repeated_rows_count_together(name):
    numbers = np.random.default_rng(0)
    x, y = numbers.integers(0, 5, (32, 6)), numbers.standard_normal((32, 1)).astype("float32")
    weights = [numbers.standard_normal(shape).astype("float32") for shape in ((5, 3), (3, 1))]
    model = keras.Sequential([keras.Input((6,), dtype="int32"), keras.layers.Embedding(5, 3),
                              keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, use_bias=False)])
    model.set_weights(weights)
    model.compile(getattr(keras.optimizers, name)(0.1), "mse")
    model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    assert np.abs(model.get_weights()[0]).sum() == pytest.approx(WANTED[name], abs=3e-5)
