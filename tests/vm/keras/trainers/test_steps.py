"""Steps as graphs: when they are captured, what is no graph, what a copy of a model takes along."""
import copy
import logging
import pickle
import warnings

import numpy
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness.keras_models import assert_alike, make_mlp, random

X, Y = random(40, 5), numpy.random.RandomState(1).randint(0, 3, 40)


def make_model(**options):
    """Return a compiled model."""
    model = make_mlp(keras)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], **options)
    return model


class Looking(keras.Model):
    """Looks at the loss in its step, as no graph can."""

    def __init__(self):
        super().__init__()
        self.outer = keras.layers.Dense(3, activation="softmax")
        self.low = 0

    def call(self, x):
        return self.outer(x)

    def train_step(self, data):
        logs = super().train_step(data)
        if float(logs["loss"]) < 100:
            self.low += 1
        return logs


def test_steps_that_look_at_numbers_run_as_python_with_one_warning():
    model = Looking()
    model.compile("sgd", "sparse_categorical_crossentropy")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, Y, batch_size=16, epochs=3, verbose=0)
    assert len(found) == 1 and "looks at a tensor's numbers" in str(found[0].message)
    assert model.low == 9


def test_functions_run_eagerly():
    model = make_model()
    tf.config.run_functions_eagerly(True)
    try:
        model.fit(X, Y, verbose=0)
    finally:
        tf.config.run_functions_eagerly(False)
    assert not model.train_function.function.variants
    model.run_eagerly = True
    model.fit(X, Y, verbose=0)
    assert not hasattr(model.train_function.function, "variants")


def test_compiling_again_changes_the_step():
    model = make_model()
    model.fit(X, Y, verbose=0)
    model.compile("sgd", "mse", metrics=["mae"])
    assert list(model.fit(X, numpy.eye(3)[Y], verbose=0).history) == ["loss", "mae"]


def test_freezing_and_a_new_rate_need_no_other_call():
    model = make_model()
    model.fit(X, Y, batch_size=20, epochs=2, verbose=0)
    before = model.layers[0].get_weights()
    model.optimizer.learning_rate = 0.0
    model.fit(X, Y, batch_size=20, verbose=0)
    assert not model.train_function.function.retraces
    assert_alike(model.layers[0].get_weights(), before, 0, 0)
    model.optimizer.learning_rate = 0.1
    model.layers[0].trainable = False
    model.fit(X, Y, batch_size=20, verbose=0)
    assert_alike(model.layers[0].get_weights(), before, 0, 0)


@pytest.mark.parametrize("make", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
                         ids=["deepcopy", "pickle"])
def test_copies_train_on(make):
    model = make_model()
    model.fit(X, Y, verbose=0)
    other = make(model)
    histories = [one.fit(X, Y, epochs=2, shuffle=False, verbose=0).history for one in (model, other)]
    assert_alike(*histories)


def test_functions_of_steps_take_iterators():
    model = make_model(steps_per_execution=2)
    batches = iter(tf.data.Dataset.from_tensor_slices((X, Y)).batch(16))
    model.make_train_function()
    assert set(model.train_function(batches)) == {"loss", "accuracy"}
    model.train_function(batches)
    with pytest.raises(StopIteration):
        model.train_function(batches)


def test_limits_of_the_configuration():
    model = make_model()
    keras.config.set_max_epochs(2)
    keras.config.set_max_steps_per_epoch(1)
    try:
        with pytest.warns(UserWarning, match="Limiting"):
            history = model.fit(X, Y, batch_size=16, epochs=5, verbose=0)
    finally:
        keras.config.set_max_epochs(None)
        keras.config.set_max_steps_per_epoch(None)
    assert len(history.epoch) == 2 and int(model.optimizer.iterations) == 2


def test_messages_go_to_a_log(capsys, caplog):
    keras.utils.disable_interactive_logging()
    try:
        with caplog.at_level(logging.INFO, logger="absl"):
            make_model().fit(X, Y, verbose=2)
    finally:
        keras.utils.enable_interactive_logging()
    assert "loss: " in caplog.text and capsys.readouterr().out == ""


def test_tracebacks_show_the_users_frames():
    def frames_of_error():
        try:
            make_model().fit(X, Y[:3])
        except ValueError as error:
            trace, names = error.__traceback__, []
            while trace:
                names.append(trace.tb_frame.f_code.co_filename)
                trace = trace.tb_next
            return names
        return []

    hidden = frames_of_error()
    keras.config.disable_traceback_filtering()
    try:
        shown = frames_of_error()
    finally:
        keras.config.enable_traceback_filtering()
    assert len(hidden) < len(shown)


class Scaled(keras.layers.Layer):
    """Multiplies with a number of its own."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def call(self, x):
        return x * self.factor


def test_changes_of_layers_are_seen():
    own, dense = Scaled(2.0), keras.layers.Dense(3, kernel_initializer="ones")
    model = keras.Sequential([keras.layers.Input((5,)), own, dense])
    before = model.predict(X, verbose=0)
    own.factor = 6.0
    assert_alike(model.predict(X, verbose=0), 3 * before)
    dense.activation = keras.activations.get("sigmoid")
    assert_alike(model.predict(X, verbose=0), 1 / (1 + numpy.exp(-3 * before)))
    dense.activation = None
    dense.set_weights([numpy.zeros((5, 3)), numpy.full(3, 4.0)])
    assert (model.predict(X, verbose=0) == 4).all()
    assert len(model.predict_function.function.variants) <= 4


class Seen(keras.callbacks.Callback):
    """Note which steps begin and end an execution."""

    def __init__(self):
        super().__init__()
        self.steps = []

    def on_train_batch_begin(self, batch, logs=None):
        self.steps.append([batch])

    def on_train_batch_end(self, batch, logs=None):
        self.steps[-1].append(batch)


# Recorded from Keras 3.15 with TensorFlow: the last execution of an epoch counts as a whole one.
@pytest.mark.parametrize("together, options, expected", [
    (3, {}, [[0, 2], [3, 5], [6, 8]] * 2), (101, {}, [[0, 100]] * 2),
    (2, {"steps_per_epoch": 3}, [[0, 1], [2, 3], [0, 1], [2, 3]])])
def test_steps_of_executions(together, options, expected):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=together)
    seen = Seen()
    x, y = numpy.ones((100, 4)), numpy.ones((100, 1))
    model.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=[seen], **options)
    assert seen.steps == expected


@pytest.mark.parametrize("endless", [True, False])
def test_workers_go_on_in_the_next_epoch(endless):
    class Batches(keras.utils.PyDataset):
        """Batches without an end, or more of them than an epoch takes."""

        num_batches = None if endless else 8

        def __getitem__(self, index):
            return numpy.full((2, 4), index, "float32"), numpy.ones((2, 1), "float32")

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(Batches(workers=2), steps_per_epoch=3, epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
