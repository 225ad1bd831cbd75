"""Losses, metrics and modules of a user's own in captured steps."""
import importlib
import warnings

import numpy
import pytest

from dragon.vm import keras as dragon_keras
from dragon.vm import tensorflow as dragon_tf
from harness import genuine
from harness.keras_models import assert_alike, make_mlp, random

X, Y = random(40, 5), random(40, 3, seed=1)


def plain(keras, tf):
    """Return a function of targets and predictions."""
    def loss(y_true, y_pred):
        return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1) + 0.1 * tf.reduce_sum(tf.abs(y_pred))
    return loss


def closure(keras, tf, gamma=1.5):
    """Return a function with a number of its own."""
    def loss(y_true, y_pred):
        y_pred = tf.clip_by_value(y_pred, 1e-7, 1 - 1e-7)
        right = tf.where(y_true > 0.5, y_pred, 1 - y_pred)
        return -tf.reduce_mean(tf.pow(1.0 - right, gamma) * tf.math.log(right))
    return loss


def object_of_class(keras, tf):
    """Return a subclass's object."""
    class Huber(keras.losses.Loss):
        def __init__(self, width):
            super().__init__()
            self.width = width

        def call(self, y_true, y_pred):
            error = tf.abs(y_true - y_pred)
            return tf.where(error <= self.width, error ** 2 / 2, self.width * (error - self.width / 2))

    return Huber(0.25)


def make_metrics(keras, tf):
    """Return a function, a subclass's object, a name and an object with a name."""
    def farthest(y_true, y_pred):
        return tf.reduce_max(tf.abs(y_true - y_pred))

    class Count(keras.metrics.Metric):
        def __init__(self, name="count"):
            super().__init__(name=name)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(tf.cast(y_pred > 0.3, tf.float32)))

        def result(self):
            return self.total

    return [farthest, Count(), "mae", keras.metrics.MeanSquaredError(name="far")]


@pytest.mark.parametrize("make", [plain, closure, object_of_class], ids=lambda make: make.__name__)
def test_own_losses_and_metrics(make):
    histories = []
    for keras, tf in ((dragon_keras, dragon_tf), (genuine.keras, genuine.tf)):
        model = make_mlp(keras)
        model.set_weights([random(*w.shape, seed=w.size) - 0.5 for w in model.get_weights()])
        model.compile(keras.optimizers.SGD(0.1), make(keras, tf), metrics=make_metrics(keras, tf))
        with warnings.catch_warnings():
            warnings.simplefilter("error" if keras is dragon_keras else "ignore")
            histories.append(model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0,
                                       validation_data=(X, Y)).history)
        if keras is dragon_keras:
            assert len(model.train_function.function.variants) == 1
    assert_alike(*histories)


def test_modules_of_torch_train_within_a_model():
    from dragon.vm import torch

    class Mixed(dragon_keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(6))
            self.outer = dragon_keras.layers.Dense(3)

        def call(self, x, training=False):
            return self.outer(self.inner(x))

    model = Mixed()
    model.compile(dragon_keras.optimizers.Adam(0.05), "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = model.fit(X, Y, batch_size=16, epochs=4, verbose=0, validation_data=(X, Y)).history["val_loss"]
    assert len(model.trainable_variables) == 6 and losses[-1] < losses[0]
    assert len(model.train_function.function.variants) == len(model.test_function.function.variants) == 1
    assert numpy.isfinite(model.predict(X, verbose=0)).all() and not model.inner.module.training


def test_strategy_in_use():
    """A model knows TensorFlow's strategy of the moment, in whose scope libraries save it."""
    tf = dragon_tf
    model = dragon_keras.Sequential([dragon_keras.layers.Dense(1)])
    assert model.distribute_strategy is tf.distribute.get_strategy()
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        assert model.distribute_strategy is tf.distribute.get_strategy()
        assert isinstance(model.distribute_strategy, tf.distribute.MirroredStrategy)
    assert model.distribute_strategy.extended.should_checkpoint


@pytest.mark.parametrize("kind, other", [(list, tuple), (tuple, list)])
def test_losses_of_several_outputs_together(kind, other):
    """A list of losses of another kind than the outputs' structure: each is of all that it names (Keras 3.15)."""
    def apart(y_true, y_pred):
        return dragon_keras.ops.abs(y_true - y_pred)

    def together(y_true, y_pred):
        assert type(y_true) is type(y_pred) is kind and len(y_pred) == 2
        return dragon_keras.ops.abs(y_true[0] - y_pred[0]) + dragon_keras.ops.abs(y_true[1] - y_pred[1])

    inputs = dragon_keras.Input((3,))
    outputs = [dragon_keras.layers.Dense(1, name=name)(inputs) for name in ("y1", "y2")]
    model = dragon_keras.Model(inputs, kind(outputs))
    model.compile("sgd", loss=other([together, kind([apart, apart])]))
    x = numpy.random.RandomState(0).rand(8, 3)
    history = model.fit(x, kind([x[:, :1], x[:, 1:2]]), verbose=0).history
    assert sorted(history) == ["loss", "y1_loss", "y1_y2_loss", "y2_loss"]
    assert history["y1_y2_loss"][0] == pytest.approx(history["y1_loss"][0] + history["y2_loss"][0], rel=1e-5)
    assert history["loss"][0] == pytest.approx(2 * history["y1_y2_loss"][0], rel=1e-5)


def test_losses_of_outputs_that_are_not_there_say_where():
    inputs = dragon_keras.Input((3,))
    first, second = dragon_keras.layers.Dense(1)(inputs), dragon_keras.layers.Dense(1)(inputs)
    model = dragon_keras.Model(inputs, {"a": {"c": first}, "b": second})
    x, y = numpy.ones((4, 3)), {"a": {"c": numpy.ones((4, 1))}, "b": numpy.ones((4, 1))}
    for loss, message in (({"a": {"d": "mse"}}, "found in the model's output"),
                          ({"z": "mse"}, "either the model's output")):
        model.compile("sgd", loss)
        with pytest.raises(KeyError, match=message):
            model.fit(x, y, verbose=0)


def test_losses_built_for_lists_take_dicts():
    """The program and its number are those of Keras's own tests."""
    loss_of = importlib.import_module("dragon.vm.keras.src.trainers.compile_utils").CompileLoss
    loss, symbols = loss_of(["mse", "mae"], output_names=["b", "a"]), [dragon_keras.KerasTensor((3, 4))] * 2
    loss.build(symbols, symbols)
    y_true = {"a": numpy.arange(1, 7).reshape(3, 2) / 10, "b": numpy.arange(7, 13).reshape(3, 2) / 10}
    y_pred = {"a": numpy.arange(12, 6, -1).reshape(3, 2) / 10, "b": numpy.arange(6, 0, -1).reshape(3, 2) / 10}
    assert float(loss(y_true, y_pred)) == pytest.approx(1.0766667)
