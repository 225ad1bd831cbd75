"""Steps and loops of a user's own, in the idioms of the tutorials."""
import warnings

import numpy
import pytest

from dragon.vm import keras as dragon_keras
from dragon.vm import tensorflow as dragon_tf
from harness import genuine
from harness.keras_models import assert_alike, make_mlp, random

X, Y = random(40, 5), random(40, 3, seed=1)
Y /= Y.sum(axis=1, keepdims=True)


def modules():
    """Return (keras, tf) of both."""
    return [(dragon_keras, dragon_tf), (genuine.keras, genuine.tf)]


def with_step(keras, tf):
    """Return a class of models with a step and metrics of its own."""
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(4, activation="tanh", kernel_initializer="ones")
            self.outer = keras.layers.Dense(3, kernel_initializer="ones", kernel_regularizer="l2")
            self.loss_tracker = keras.metrics.Mean(name="loss")
            self.error = keras.metrics.MeanAbsoluteError(name="mae")

        @property
        def metrics(self):
            return [self.loss_tracker, self.error]

        def call(self, x, training=False):
            return self.outer(self.hidden(x))

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = keras.losses.mean_squared_error(y, y_pred)
                loss = tf.reduce_mean(loss) + sum(self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.loss_tracker.update_state(loss)
            self.error.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics}

        def test_step(self, data):
            x, y = data
            self.error.update_state(y, self(x, training=False))
            return {"mae": self.error.result()}

    return Own


@pytest.mark.parametrize("eager", [False, True])
def test_own_train_step(eager):
    histories, scores = [], []
    for keras, tf in modules():
        model = with_step(keras, tf)()
        model.compile(optimizer=keras.optimizers.Adam(0.01), run_eagerly=eager)
        history = model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0, validation_data=(X, Y))
        histories.append(history.history)
        scores.append(model.evaluate(X, Y, verbose=0, return_dict=True))
    assert_alike(*histories)
    assert_alike(*scores)


def test_own_compute_loss_and_metrics():
    histories = []
    for keras, tf in modules():
        class Own(keras.Model):
            def __init__(self, keras=keras):
                super().__init__()
                self.outer = keras.layers.Dense(3, kernel_initializer="ones")
                self.own = keras.metrics.Mean(name="own")

            def call(self, x):
                return self.outer(x)

            def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True, keras=keras):
                loss = keras.ops.mean(keras.ops.abs(y - y_pred))
                self.own.update_state(loss * 2)
                return loss

        model = Own()
        model.compile("sgd", metrics=["mse"])
        histories.append(model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0).history)
    assert_alike(*histories)


def test_several_optimizers():
    results = []
    for keras, tf in modules():
        class Two(keras.Model):
            def __init__(self, keras=keras):
                super().__init__()
                self.a = keras.layers.Dense(2, kernel_initializer="ones")
                self.b = keras.layers.Dense(3, kernel_initializer="ones")

            def compile(self, first, second):
                super().compile()
                self.first, self.second = first, second

            def call(self, x):
                return self.b(self.a(x))

            def train_step(self, data, tf=tf):
                x, y = data
                with tf.GradientTape(persistent=True) as tape:
                    loss = tf.reduce_mean(tf.square(y - self(x, training=True)))
                for optimizer, layer in ((self.first, self.a), (self.second, self.b)):
                    grads = tape.gradient(loss, layer.trainable_variables)
                    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
                return {"loss": loss}

        model = Two()
        model.compile(keras.optimizers.SGD(0.05), keras.optimizers.Adam(0.01))
        results.append(model.fit(X, Y, batch_size=20, epochs=2, shuffle=False, verbose=0).history)
    assert_alike(*results)


def test_loop_with_a_tape():
    results = []
    for keras, tf in modules():
        model = make_mlp(keras)
        model.set_weights([numpy.full(w.shape, 0.1, "float32") for w in model.get_weights()])
        loss_of, optimizer = keras.losses.CategoricalCrossentropy(), keras.optimizers.SGD(0.1)
        metric, losses = keras.metrics.CategoricalAccuracy(), []
        for start in range(0, 40, 16):
            x, y = tf.constant(X[start:start + 16]), tf.constant(Y[start:start + 16])
            with tf.GradientTape() as tape:
                out = model(x, training=True)
                loss = loss_of(y, out)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
            metric.update_state(y, out)
            losses.append(float(loss))
        results.append([losses, float(metric.result()), model.get_weights()])
    assert_alike(*results)


def test_freezing_a_layer_after_compile_is_seen():
    model = make_mlp(dragon_keras)
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    model.layers[0].trainable = False
    before = model.layers[0].get_weights()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert_alike(model.layers[0].get_weights(), before, 0, 0)


def test_older_names():
    histories = []
    for keras, tf in modules():
        class Older(keras.Model):
            def __init__(self, keras=keras):
                super().__init__()
                self.outer = keras.layers.Dense(3, kernel_initializer="ones")

            def call(self, x):
                return self.outer(x)

            def train_step(self, data, tf=tf):
                x, y = data
                with tf.GradientTape() as tape:
                    y_pred = self(x, training=True)
                    loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
                weights = self.trainable_variables
                self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
                self.compiled_metrics.update_state(y, y_pred)
                return {m.name: m.result() for m in self.metrics}

        model = Older()
        model.compile("sgd", "mse", metrics=["mae"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            histories.append(model.fit(X, Y, batch_size=20, epochs=2, shuffle=False, verbose=0).history)
    assert_alike(*histories)


def test_steps_as_functions_of_tensorflow():
    results = []
    for keras, tf in modules():
        model = make_mlp(keras)
        model.set_weights([numpy.full(w.shape, 0.1, "float32") for w in model.get_weights()])
        loss_of, optimizer = keras.losses.CategoricalCrossentropy(), keras.optimizers.SGD(0.1)
        mean, accuracy = keras.metrics.Mean(), keras.metrics.CategoricalAccuracy()

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                out = model(x, training=True)
                loss = loss_of(y, out)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
            mean.update_state(loss)
            accuracy.update_state(y, out)
            return loss

        losses = []
        for _ in range(3):
            mean.reset_state()
            for x, y in tf.data.Dataset.from_tensor_slices((X, Y)).batch(16):
                losses.append(float(step(x, y)))
            losses += [float(mean.result()), float(accuracy.result())]
        results.append([losses, model.get_weights()])
    assert_alike(*results)


def test_own_test_and_predict_steps():
    results = []
    for keras, tf in modules():
        class Own(keras.Sequential):
            def test_step(self, data, keras=keras):
                x, y = data
                return {"far": keras.ops.max(keras.ops.abs(y - self(x, training=False)))}

            def predict_step(self, data):
                return {"twice": 2 * self(data, training=False)}

        model = Own([keras.layers.Input((5,)), keras.layers.Dense(3, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        results.append([model.evaluate(X, Y, batch_size=16, verbose=0), model.predict(X, verbose=0)["twice"],
                        model.fit(X, Y, epochs=1, verbose=0, validation_data=(X, Y), shuffle=False).history])
    assert_alike(*results)
