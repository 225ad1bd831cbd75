"""Layers of one's own: late building, weights with regularizers and constraints, masks, nesting, saving."""
import os
import tempfile

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(15)


@keras.saving.register_keras_serializable()
class Linear(keras.layers.Layer):
    """x @ w + b, with the weights made when the input's size is known."""

    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.activation = units, keras.activations.get(activation)

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="he_normal", name="w",
                                 regularizer=keras.regularizers.L1L2(1e-4, 1e-3), constraint="max_norm")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        return self.activation(ops.matmul(x, self.w) + self.b)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units,
                "activation": keras.activations.serialize(self.activation)}


class Counted(keras.layers.Layer):
    """Count its calls in a weight that is not trained, and add a loss of its own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.calls = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="calls")
        self.linear = Linear(8, "swish")

    def call(self, x, training=False):
        if training:
            self.calls.assign_add(1)
        x = self.linear(x)
        self.add_loss(1e-3 * ops.mean(ops.square(x)))
        return x


@keras.saving.register_keras_serializable(package="examples")
def spread(y_true, y_pred):
    """Squared error, and how much the predictions spread."""
    return ops.mean(ops.square(y_true - y_pred), axis=-1) + 0.01 * ops.std(y_pred)


x = np.random.default_rng(0).normal(size=(256, 6)).astype("float32")
y = np.tanh(x @ np.arange(6, dtype="float32")[:, None])
counted = Counted()
model = keras.Sequential([counted, Linear(1)])
model.compile(keras.optimizers.Nadam(1e-2), loss=spread, metrics=[keras.metrics.MeanAbsoluteError(name="mae")])
history = model.fit(x, y, batch_size=64, epochs=3, shuffle=False, verbose=0)
for epoch in range(3):
    print(f"loss {history.history['loss'][epoch]:.4f} mae {history.history['mae'][epoch]:.4f}")
print("calls", int(counted.calls.numpy()), "losses", len(model.losses), "weights", [w.name for w in model.weights])

plain = keras.Sequential([keras.Input((6,)), Linear(4, "relu"), Linear(1)])
path = os.path.join(tempfile.mkdtemp(), "model.keras")
plain.save(path)
print("saved and loaded", bool(np.allclose(keras.models.load_model(path)(x), plain(x), atol=1e-6)))
print(plain.layers[0].get_config()["units"], plain.layers[0].compute_output_shape((None, 6)))
