"""Training by `stateless_call` under a tape that watches the variables' values."""
import numpy as np

from dragon.vm import keras
from dragon.vm import tensorflow as tf


def test_values_of_variables_are_watched():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    x = np.random.RandomState(0).rand(8, 4).astype("float32")
    values = [variable.value for variable in model.trainable_variables]
    with tf.GradientTape() as tape:
        tape.watch(values)
        answers, _ = model.stateless_call(values, [], x)
        loss = keras.ops.mean(keras.ops.square(answers - 1.0))
    kernel, bias = tape.gradient(loss, values)
    np.testing.assert_allclose(bias.numpy(), [2 * (answers.numpy() - 1).mean()], rtol=1e-5)
    assert kernel.shape == (4, 1)
