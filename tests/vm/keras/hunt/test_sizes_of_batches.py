"""Sequential models that a training builds know sizes of batches where genuine Keras does."""
import numpy as np
import pytest

from dragon.vm import keras, tensorflow
from harness import genuine

X, Y = np.ones((20, 4), "float32"), np.ones((20, 3), "float32")
RUNS = {
    "a smaller last batch": lambda k, t, m: m.fit(X, Y, batch_size=8, verbose=0),
    "batches alike": lambda k, t, m: m.fit(X, Y, batch_size=10, verbose=0),
    "eagerly": lambda k, t, m: (m.compile("sgd", "mse", run_eagerly=True), m.fit(X, Y, batch_size=8, verbose=0)),
    "one batch": lambda k, t, m: m.train_on_batch(X, Y),
    "called": lambda k, t, m: m(X),
    "predict": lambda k, t, m: m.predict(X, batch_size=8, verbose=0),
    "dataset": lambda k, t, m: m.fit(t.data.Dataset.from_tensor_slices((X, Y)).batch(10), verbose=0),
    "whole batches": lambda k, t, m: m.fit(t.data.Dataset.from_tensor_slices((X, Y)).batch(8, drop_remainder=True),
                                           verbose=0),
}


def shapes(k, t, run):
    """Return the shapes that a model without an Input says after it was run."""
    model = k.Sequential([k.layers.Dense(5), k.layers.Dense(3)])
    model.compile("sgd", "mse")
    run(k, t, model)
    return model.input_shape, model.output_shape, model.layers[0].output.shape


@pytest.mark.parametrize("name", RUNS)
def test_shapes(name):
    assert shapes(keras, tensorflow, RUNS[name]) == shapes(genuine.keras, genuine.tf, RUNS[name])
