"""With a seed set, `fit` takes samples in the order of genuine Keras."""
import numpy as np
import pytest

import dragon.vm.keras as keras
from harness import genuine


def order_of(module, seed, size, batch):
    """Return the samples of two epochs as a model sees them."""
    seen = []

    class Watching(module.Model):
        def train_step(self, data):
            seen.extend(np.asarray(data[0]).ravel().astype(int).tolist())
            return {"loss": 0.0}

        def call(self, x):
            return x
    module.utils.set_random_seed(seed)
    model = Watching()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(np.arange(size, dtype="float32")[:, None], np.zeros((size, 1)), batch_size=batch, epochs=2, verbose=0)
    return seen


@pytest.mark.parametrize("seed, size, batch", [(3, 10, 4), (0, 50, 8), (2 ** 31 + 5, 33, 33), (12, 1, 1)])
def test_order_of_samples(seed, size, batch):
    found = order_of(keras, seed, size, batch)
    assert found == order_of(genuine.keras, seed, size, batch)
    assert sorted(found[:size]) == list(range(size))
