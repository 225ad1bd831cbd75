"""Models with losses, masks, frozen parts and mixed dtypes are trained to the same numbers."""
import warnings

import numpy as np
import pytest
from harness.keras_programs import check, weights_of

X = np.random.RandomState(0).rand(12, 5).astype("float32")
Y = np.random.RandomState(1).rand(12, 2).astype("float32")
WORDS = np.random.RandomState(2).randint(0, 7, (12, 6)) * (np.arange(6) < np.random.RandomState(3).randint(
    1, 7, (12, 1)))


def trained(keras, model, x=X, y=Y, loss="mse", **options):
    """Return the history, the weights and the predictions of a model after three epochs."""
    weights_of(model)
    model.set_weights([abs(weight) * 0.3 + 0.1 for weight in model.get_weights()])  # variances are positive
    model.compile(keras.optimizers.SGD(0.05), loss, **options)
    history = model.fit(x, y, epochs=3, batch_size=5, shuffle=False, verbose=0).history
    return [history, model.get_weights(), model.predict(x, verbose=0), model.evaluate(x, y, verbose=0)]


def regularized(keras):
    """Regularizers of weights and of outputs, and losses of layers."""
    class Add(keras.layers.Layer):
        def call(self, x, training=None):
            self.add_loss(keras.ops.mean(keras.ops.square(x)) * 0.1)
            return x
    layers = keras.layers
    return trained(keras, keras.Sequential([
        keras.Input((5,)), layers.Dense(4, activation="tanh", kernel_regularizer="l2", activity_regularizer="l1"),
        Add(), layers.Dense(2, bias_regularizer="l2", kernel_constraint=keras.constraints.MaxNorm(1.0))]))


def masked(keras):
    """Padding does not count."""
    layers = keras.layers
    return trained(keras, keras.Sequential([
        keras.Input((6,), dtype="int32"), layers.Embedding(7, 3, mask_zero=True), layers.GRU(4, return_sequences=True),
        layers.LSTM(3), layers.Dense(2)]), x=WORDS)


def with_norms(keras):
    """Statistics of norms move, but in a frozen part."""
    layers = keras.layers
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(5), layers.BatchNormalization()])
    inner.trainable = False
    return trained(keras, keras.Sequential([inner, layers.BatchNormalization(), layers.Dense(2)]))


def several(keras):
    """A graph with inputs and outputs by name."""
    layers = keras.layers
    a, b = keras.Input((5,), name="a"), keras.Input((2,), name="b")
    hidden = layers.Concatenate()([layers.Dense(3, activation="relu")(a), b])
    model = keras.Model({"a": a, "b": b}, {"left": layers.Dense(2, name="left")(hidden),
                                           "right": layers.Dense(1, name="right")(hidden)})
    return trained(keras, model, {"a": X, "b": Y}, {"left": Y, "right": Y[:, :1]},
                   loss={"left": "mse", "right": "mse"}, loss_weights={"left": 1, "right": 3})


def subclassed(keras):
    """A subclass that trains itself with a metric of its own."""
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.top = keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x, training=False):
            x = self.hidden(x)
            return self.top(x * 2.0 if training else x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = keras.ops.mean(keras.ops.square(y - y_pred))
            self.seen.update_state(loss)
            return loss

        @property
        def metrics(self):
            return [self.seen]
    net = Net()
    net(keras.ops.convert_to_tensor(X))
    weights_of(net)
    net.set_weights([weight * 0.3 for weight in net.get_weights()])
    net.compile(keras.optimizers.SGD(0.05))
    history = net.fit(X, Y, epochs=3, batch_size=5, shuffle=False, verbose=0).history
    return [history["seen"], net.get_weights()]


PROGRAMS = {program.__name__: program for program in (regularized, masked, with_norms, several, subclassed)}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_training(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = check(PROGRAMS[name])
    assert not isinstance(result, Exception)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_learns(policy):
    from dragon.vm import keras
    keras.config.set_dtype_policy(policy)
    try:
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
        weights_of(model)
        model.set_weights([weight * 0.3 for weight in model.get_weights()])
        model.compile(keras.optimizers.SGD(0.05), "mse")
        losses = model.fit(X, Y, epochs=20, batch_size=12, shuffle=False, verbose=0).history["loss"]
    finally:
        keras.config.set_dtype_policy("float32")
    assert losses[-1] < 0.5 * losses[0]
    assert {weight.dtype for weight in model.trainable_weights} == {"float32"}
