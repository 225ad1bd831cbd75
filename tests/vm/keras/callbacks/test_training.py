"""Callbacks of real trainings: files that they write, states that they restore."""
import json

import numpy
import pytest

from dragon.vm import keras
from harness import genuine
from harness.keras_models import assert_alike, compile_twins, make_mlp, make_twins, random

X, Y = random(40, 5), numpy.random.RandomState(1).randint(0, 3, 40)
OPTIONS = dict(loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def fit(model, callbacks, epochs=3, **options):
    """Return the history of a short training."""
    return model.fit(X, Y, batch_size=16, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks,
                     **options).history


def make_model(optimizer="adam"):
    """Return a compiled model."""
    model, _ = make_twins(make_mlp)
    model.compile(optimizer, **OPTIONS)
    return model


def test_models_are_saved_for_genuine_keras(tmp_path):
    model = make_model()
    path = str(tmp_path / "best" / "m.{epoch}.keras")
    fit(model, [keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True)], epochs=2)
    assert sorted(file.name for file in (tmp_path / "best").iterdir()) == ["m.1.keras", "m.2.keras"]
    other = genuine.keras.models.load_model(tmp_path / "best" / "m.2.keras")
    assert_alike(model.predict(X, verbose=0), other.predict(X, verbose=0))


def test_weights_are_saved_every_so_many_batches(tmp_path):
    model = make_model()
    path = str(tmp_path / "{epoch}-{batch}.weights.h5")
    fit(model, [keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=2)], epochs=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["1-2.weights.h5", "2-1.weights.h5", "2-3.weights.h5"]


def test_directory_in_the_place_of_a_file(tmp_path):
    (tmp_path / "m.keras").mkdir()
    with pytest.raises(IOError, match="Received an existing directory"):
        fit(make_model(), [keras.callbacks.ModelCheckpoint(tmp_path / "m.keras")])


class Interrupt(keras.callbacks.Callback):
    """Ends a training in its third epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("options", [{}, {"double_checkpoint": True}], ids=str)
def test_training_goes_on_where_it_was_interrupted(options, tmp_path):
    whole, first, second = make_model(), make_model(), make_model()
    for model in (first, second):
        model.set_weights(whole.get_weights())
    expected = fit(whole, [], epochs=4)

    def backup():
        return keras.callbacks.BackupAndRestore(tmp_path / "backup", **options)

    with pytest.raises(KeyboardInterrupt):
        fit(first, [backup(), Interrupt()], epochs=4)
    assert json.loads((tmp_path / "backup" / "training_metadata.json").read_text()) == {"epoch": 2, "batch": 0}
    got = fit(second, [backup()], epochs=4)
    assert_alike(got, {name: values[2:] for name, values in expected.items()})
    assert_alike(second.get_weights(), whole.get_weights())
    assert not (tmp_path / "backup").exists()


def test_best_weights_are_restored():
    model = make_model("sgd")
    seen = []
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(model.get_weights()))
    stop = keras.callbacks.EarlyStopping(monitor="loss", mode="max", patience=1, restore_best_weights=True)
    fit(model, [note, stop], epochs=5)
    assert len(seen) == 2 and stop.best_epoch == 0
    assert_alike(model.get_weights(), seen[0], 0, 0)


@pytest.mark.parametrize("options", [{}, {"swap_on_epoch": True}], ids=str)
def test_averages_of_weights(options):
    twins = make_twins(make_mlp)
    compile_twins(twins, lambda keras: keras.optimizers.SGD(0.5, use_ema=True, ema_momentum=0.5), **OPTIONS)
    histories = [fit(model, [module.callbacks.SwapEMAWeights(**options)], validation_data=(X, Y))
                 for model, module in zip(twins, (keras, genuine.keras))]
    assert_alike(*histories)
    assert_alike(*(model.get_weights() for model in twins))


def test_averages_need_an_optimizer_that_keeps_some():
    with pytest.raises(ValueError, match="Received: use_ema=False"):
        make_model().evaluate(X, Y, verbose=0, callbacks=[keras.callbacks.SwapEMAWeights()])


def test_rates_are_changed_without_another_capture():
    model = make_model("sgd")
    rates = [keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2),
             keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, min_delta=10.0, factor=0.5)]
    history = fit(model, rates, epochs=4)
    numpy.testing.assert_allclose(history["learning_rate"], [0.005, 0.0025, 0.000625, 0.00015625], rtol=1e-5)
    assert len(model.train_function.function.retraces) <= 1


def test_order_of_events_in_fit():
    calls = []
    for module in (keras, genuine.keras):
        names = [name for name in dir(module.callbacks.Callback) if name.startswith("on_")]
        kind = type("Noting", (module.callbacks.Callback,), {
            name: (lambda self, *args, name=name, module=module, **kwargs:
                   calls.append((module, name, *(sorted(arg) if isinstance(arg, dict) else arg for arg in args))))
            for name in names})
        model = make_mlp(module)
        model.compile("sgd", **OPTIONS)
        fit(model, [kind()], epochs=2, validation_split=0.2)
        model.evaluate(X, Y, verbose=0, callbacks=[kind()])
        model.predict(X, verbose=0, callbacks=[kind()])
    ours, theirs = ([call[1:] for call in calls if call[0] is module] for module in (keras, genuine.keras))
    assert ours == theirs


@pytest.mark.parametrize("as_json", [False, True])
def test_metrics_are_sent_to_a_server(as_json, monkeypatch):
    requests = pytest.importorskip("requests")
    sent = []
    monkeypatch.setattr(requests, "post", lambda url, data=None, **options: sent.append((url, data, options)))
    fit(make_model(), [keras.callbacks.RemoteMonitor("http://here", "/there", send_as_json=as_json)], epochs=2)
    assert [url for url, _, _ in sent] == ["http://here/there"] * 2
    got = sent[1][2]["json"] if as_json else json.loads(sent[1][1]["data"])
    assert got["epoch"] == 1 and set(got) == {"epoch", "loss", "accuracy"}

    def fail(*args, **options):
        raise requests.exceptions.ConnectionError

    monkeypatch.setattr(requests, "post", fail)
    with pytest.warns(UserWarning, match="http://here"):
        fit(make_model(), [keras.callbacks.RemoteMonitor("http://here")], epochs=1)
