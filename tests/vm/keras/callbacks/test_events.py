"""Callbacks on a model that only counts: the same decisions and words as the genuine ones."""
import math

import numpy
import pytest

from dragon.vm.keras import callbacks
from harness import genuine
from harness.subresults import each

LOSSES = [1.0, 0.8, 0.79, 0.85, 0.9, 0.7, 0.71, 0.72, 0.73]
ROWS = [
    ("EarlyStopping", dict(monitor="loss", patience=2, verbose=1)),
    ("EarlyStopping", dict(monitor="loss", patience=1, min_delta=0.05, verbose=1, restore_best_weights=True)),
    ("EarlyStopping", dict(monitor="loss", patience=0, mode="max", start_from_epoch=3, verbose=1)),
    ("EarlyStopping", dict(monitor="loss", patience=2, baseline=0.75, mode="min")),
    ("ReduceLROnPlateau", dict(monitor="loss", factor=0.5, patience=1, verbose=1)),
    ("ReduceLROnPlateau", dict(monitor="loss", factor=0.1, patience=1, cooldown=2, min_lr=0.02, min_delta=0.02)),
    ("LearningRateScheduler", dict(schedule=lambda epoch, rate: rate * 0.5, verbose=1)),
    ("LearningRateScheduler", dict(schedule=lambda epoch: 0.1 / (epoch + 1))),
    ("ModelCheckpoint", dict(filepath="{epoch:02d}-{loss:.2f}.keras", monitor="loss", save_best_only=True, verbose=1)),
    ("ModelCheckpoint", dict(filepath="m.weights.h5", save_weights_only=True, verbose=1, monitor="loss")),
    ("ModelCheckpoint", dict(filepath="m.{epoch}.{batch}.keras", save_freq=4, monitor="loss")),
    ("ModelCheckpoint", dict(filepath="m.keras", monitor="loss", save_best_only=True, initial_value_threshold=0.75)),
    ("TerminateOnNaN", dict()),
]


class Rate(float):
    """A learning rate that both kinds of callbacks can read."""

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(float(self), dtype)


class Optimizer:
    """A learning rate."""

    name, learning_rate = "sgd", 0.1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, Rate(value))


class Model:
    """Notes what callbacks ask of it."""

    def __init__(self):
        self.optimizer, self.notes, self.metrics = Optimizer(), [], []
        self.optimizer.learning_rate = 0.1
        self.stop_training, self.weights = False, 0

    def save(self, path, overwrite):
        self.notes.append(("save", path))

    def save_weights(self, path, overwrite):
        self.notes.append(("save_weights", path))

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.notes.append(("set_weights", weights))


def train(module, callback, losses=LOSSES, batches=3):
    """Return what a callback did in some epochs."""
    model = Model()
    events = module.CallbackList([callback], add_history=True, model=model, verbose=0, epochs=len(losses),
                                 steps=batches)
    rates = []
    events.on_train_begin()
    for epoch, loss in enumerate(losses):
        events.on_epoch_begin(epoch)
        rates.append(float(model.optimizer.learning_rate))
        for batch in range(batches):
            events.on_train_batch_begin(batch)
            events.on_train_batch_end(batch, {"loss": loss})
        model.weights = epoch
        events.on_epoch_end(epoch, {"loss": loss})
        if model.stop_training:
            break
    events.on_train_end({"loss": loss})
    return model.notes, rates, model.history.history, model.history.epoch, model.stop_training


@pytest.mark.parametrize("name, options", ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_callback_decides_as_the_genuine_one(name, options, capsys):
    expected = train(genuine.keras.callbacks, getattr(genuine.keras.callbacks, name)(**options))
    said = capsys.readouterr().out
    got = train(callbacks, getattr(callbacks, name)(**options))
    assert got == expected
    assert capsys.readouterr().out == said


def test_terminate_on_nan():
    losses = [1.0, math.nan, 0.5]
    expected = train(genuine.keras.callbacks, genuine.keras.callbacks.TerminateOnNaN(), losses)
    got = train(callbacks, callbacks.TerminateOnNaN(), losses)
    assert got[-1] is expected[-1] is True and got[3] == expected[3]
    with pytest.raises(RuntimeError, match="Received: nan"):
        train(callbacks, callbacks.TerminateOnNaN(raise_error=True), losses)


def make_log(module, path, **options):
    for epochs in (3, 2):
        train(module, module.CSVLogger(path, **options), LOSSES[:epochs])
    return path.read_text()


@pytest.mark.parametrize("options", [{}, {"append": True}, {"separator": ";"}], ids=str)
def test_csv_logger(options, tmp_path):
    expected = make_log(genuine.keras.callbacks, tmp_path / "genuine.csv", **options)
    assert make_log(callbacks, tmp_path / "dragon.csv", **options) == expected


def note_events(module, calls):
    """Return callbacks that note events, one by overriding and one by functions."""
    names = [name for name in dir(module.Callback) if name.startswith("on_")]
    kind = type("Noting", (module.Callback,), {
        name: (lambda self, *args, name=name, **kwargs: calls.append((name, *map(str, args)))) for name in names})
    functions = {name: (lambda *args, name=name, **kwargs: calls.append(("lambda", name)))
                 for name in ("on_epoch_begin", "on_train_batch_end", "on_train_end", "on_test_begin")}
    return [kind(), module.LambdaCallback(**functions)]


def test_order_of_events():
    both = []
    for module in (genuine.keras.callbacks, callbacks):
        calls = []
        train(module, note_events(module, calls), LOSSES[:2], 2)
        both.append([call[:2] for call in calls])
    assert both[0] == both[1]


def test_older_names_of_events_are_called():
    calls = []
    kind = type("Older", (callbacks.Callback,), {"on_batch_end": lambda self, batch, logs=None: calls.append(batch)})
    train(callbacks, kind(), LOSSES[:1], 3)
    assert calls == [0, 1, 2]


ERRORS = [
    (ValueError, "Received factor=2", lambda: callbacks.ReduceLROnPlateau(factor=2)),
    (ValueError, r"Received: filepath=m\.h6", lambda: callbacks.ModelCheckpoint("m.h6")),
    (ValueError, r"Received: filepath=m\.h5", lambda: callbacks.ModelCheckpoint("m.h5", save_weights_only=True)),
    (ValueError, "Received: often", lambda: callbacks.ModelCheckpoint("m.keras", save_freq="often")),
    (ValueError, "Received: backup_dir=''", lambda: callbacks.BackupAndRestore("")),
    (ValueError, "Received: save_freq=often", lambda: callbacks.BackupAndRestore("b", save_freq="often")),
    (ValueError, "Received: -1", lambda: callbacks.TensorBoard(profile_batch=-1)),
    (ValueError, "Received: monitor=strange",
     lambda: train(callbacks, callbacks.EarlyStopping(monitor="strange"))),
    (ValueError, "Got: one", lambda: train(callbacks, callbacks.LearningRateScheduler(lambda epoch, rate: "one"))),
]


@each("kind, text, call", ERRORS, ids=[row[1] for row in ERRORS])
def test_errors_end_in_what_was_received(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_every_callback_is_there():
    names = {name for name in dir(genuine.keras.callbacks) if name[0].isupper()}
    assert names <= set(dir(callbacks))
