"""`fit`, `evaluate`, `predict` and their kin: the same numbers as genuine Keras from the same weights and data."""
import numpy
import pytest

from harness import genuine
from harness.keras_models import assert_alike, compile_twins, make_mlp, make_twins, make_two_outputs, random
from harness.subresults import each

X, CLASSES, VALUES = random(50, 5), numpy.random.RandomState(1).randint(0, 3, 50), random(50, 1, seed=2)
ONE_HOT, WEIGHTS = numpy.eye(3, dtype="float32")[CLASSES], random(50, seed=3)
B, TWO_X = random(50, 4, seed=4), [X, random(50, 4, seed=4)]
SPARSE = dict(loss="sparse_categorical_crossentropy", metrics=["accuracy"])

FITS = [
    ("sparse", SPARSE, dict(y=CLASSES)),
    ("one-hot", dict(loss="categorical_crossentropy", metrics=["acc", "mse"]), dict(y=ONE_HOT)),
    ("adam", dict(optimizer=lambda keras: keras.optimizers.Adam(0.01), **SPARSE), dict(y=CLASSES)),
    ("string optimizer", dict(optimizer=lambda keras: "rmsprop", **SPARSE), dict(y=CLASSES)),
    ("class weight", SPARSE, dict(y=CLASSES, class_weight={0: 2.0, 1: 0.5})),
    ("sample weight", dict(weighted_metrics=["accuracy"], **SPARSE), dict(y=CLASSES, sample_weight=WEIGHTS)),
    ("split", SPARSE, dict(y=CLASSES, validation_split=0.3)),
    ("validation", SPARSE, dict(y=CLASSES, validation_data=(X[:20], CLASSES[:20]), validation_freq=2)),
    ("weighted validation", SPARSE, dict(y=CLASSES, validation_data=(X[:20], CLASSES[:20], WEIGHTS[:20]))),
    ("validation steps", SPARSE, dict(y=CLASSES, validation_data=(X, CLASSES), validation_steps=2)),
    ("steps", SPARSE, dict(y=CLASSES, steps_per_epoch=2)),
    ("initial epoch", SPARSE, dict(y=CLASSES, initial_epoch=1)),
    ("no metrics", dict(loss="mse"), dict(y=ONE_HOT)),
    ("executions", dict(steps_per_execution=3, **SPARSE), dict(y=CLASSES)),
    ("eager", dict(run_eagerly=True, **SPARSE), dict(y=CLASSES)),
    ("weights of losses", dict(loss="mse", loss_weights=0.5), dict(y=ONE_HOT)),
    ("crossentropy", dict(loss="crossentropy"), dict(y=CLASSES)),
]


@each("options, data", [row[1:] for row in FITS], ids=[row[0] for row in FITS], size=5)
@pytest.mark.long("genuine Keras trains as well, and traces each model")
def test_history_is_the_genuine_one(options, data):
    twins = make_twins(make_mlp)
    compile_twins(twins, **options)
    histories = [model.fit(X, batch_size=16, epochs=3, shuffle=False, verbose=0, **data).history for model in twins]
    assert_alike(*histories)
    assert_alike(*(model.get_weights() for model in twins))
    assert_alike(*(model.evaluate(X, data["y"], verbose=0) for model in twins))
    assert_alike(*(model.predict(X, verbose=0) for model in twins))


TWO_Y = [VALUES, CLASSES]
NAMED_Y = {"value": VALUES, "kind": CLASSES}
LOSSES = {"value": "mse", "kind": "sparse_categorical_crossentropy"}
OUTPUTS = [
    ("lists", dict(loss=list(LOSSES.values())), TWO_Y),
    ("dictionary of losses", dict(loss=LOSSES, loss_weights={"value": 2.0, "kind": 0.5}), NAMED_Y),
    ("weights as a list", dict(loss=list(LOSSES.values()), loss_weights=[1.0, 3.0]), TWO_Y),
    ("one loss for both", dict(loss="mse"), [VALUES, ONE_HOT]),
    ("metrics by name", dict(loss=LOSSES, metrics={"kind": ["accuracy", "sparse_categorical_crossentropy"]}), NAMED_Y),
    ("metrics as lists", dict(loss=LOSSES, metrics=[["mae"], ["accuracy"]], weighted_metrics=[["mae"], []]), NAMED_Y),
    ("same metric", dict(loss="mse", metrics=[["mae"], ["mae"]]), [VALUES, ONE_HOT]),
    ("no loss for one", dict(loss=["mse", None]), TWO_Y),
]


# One row tells whether it stands; genuine Keras takes seconds to trace each of the others.
@pytest.mark.parametrize("options, y", [
    pytest.param(*row[1:], id=row[0], marks=[] if row[0] == "dictionary of losses" else pytest.mark.slow)
    for row in OUTPUTS])
def test_several_outputs(options, y):
    twins = make_twins(make_two_outputs)
    compile_twins(twins, **options)
    histories = [model.fit(TWO_X, y, batch_size=16, epochs=2, shuffle=False, verbose=0).history for model in twins]
    assert_alike(*histories)
    assert_alike(*(model.evaluate({"a": X, "b": B}, y, verbose=0, return_dict=True) for model in twins))
    assert_alike(*(model.predict(TWO_X, verbose=0) for model in twins))
    assert [m.name for m in twins[0].metrics] == [m.name for m in twins[1].metrics]


def test_single_batches():
    twins = make_twins(make_mlp)
    compile_twins(twins, **SPARSE)
    for batch in (slice(0, 16), slice(16, 32), slice(32, 37)):
        x, y = X[batch], CLASSES[batch]
        assert_alike(*(model.train_on_batch(x, y) for model in twins))
        assert_alike(*(model.train_on_batch(x, y, class_weight={0: 3.0}, return_dict=True) for model in twins))
        assert_alike(*(model.test_on_batch(x, y, sample_weight=WEIGHTS[batch]) for model in twins))
        assert_alike(*(model.predict_on_batch(x) for model in twins))


def test_one_graph_serves_all_batches():
    model, _ = make_twins(make_mlp)
    model.compile("adam", **SPARSE)
    model.fit(X, CLASSES, batch_size=16, epochs=3, verbose=0, validation_data=(X, CLASSES))
    for run in (model.train_function, model.test_function):
        assert run.function.fallback is None
        assert len(run.function.variants) == 1 and len(run.function.retraces) <= 1


def test_progress_text(capsys):
    twins = make_twins(make_mlp)
    compile_twins(twins, **SPARSE)
    for model in reversed(twins):
        model.fit(X, CLASSES, batch_size=16, epochs=2, shuffle=False, verbose=2, validation_split=0.2)
        model.evaluate(X, CLASSES, verbose=2)
    text = capsys.readouterr().out.splitlines()
    half = len(text) // 2
    assert [_without_times(line) for line in text[:half]] == [_without_times(line) for line in text[half:]]


def _without_times(line):
    import re
    return re.sub(r"\d+s - \d+(s|ms|us)/step", "TIME", line)


def test_bar_ends_with_all_steps(capsys):
    model, _ = make_twins(make_mlp)
    model.compile("sgd", **SPARSE)
    model.fit(X, CLASSES, batch_size=16, epochs=1, verbose=1)
    model.predict(X, verbose=1)
    text = capsys.readouterr().out
    done = f"\x1b[1m4/4\x1b[0m \x1b[32m{'━' * 20}\x1b[0m\x1b[37m\x1b[0m \x1b[1m0s\x1b[0m"
    assert done in text
    assert "- accuracy: 0." in text and "- loss: 1." in text and text.count("\n") == 2


ERRORS = [
    (ValueError, "must call `compile\\(\\)`", lambda m: m.fit(X, CLASSES), False),
    (ValueError, "Received: y_true|different structures", lambda m: m.fit(X, [CLASSES, CLASSES], verbose=0), True),
    (ValueError, "Received: validation_freq=x", lambda m: m.fit(
        X, CLASSES, verbose=0, validation_data=(X, CLASSES), validation_freq="x"), True),
    (ValueError, "Received: {'strange': 1}", lambda m: m.evaluate(X, CLASSES, strange=1), True),
    (ValueError, "Received: loss_weights=x", lambda m: m.compile("sgd", "mse", loss_weights="x"), True),
    (ValueError, "Received: metrics=acc", lambda m: m.compile("sgd", "mse", metrics="acc"), True),
    (ValueError, "Received: loss=None", lambda m: (m.compile("sgd"), m.fit(X, CLASSES, verbose=0)), False),
]


@pytest.mark.parametrize("kind, text, call, is_compiled", ERRORS, ids=[row[1] for row in ERRORS])
def test_errors_end_in_what_was_received(kind, text, call, is_compiled):
    model, _ = make_twins(make_mlp)
    if is_compiled:
        model.compile("sgd", **SPARSE)
    with pytest.raises(kind, match=text):
        call(model)


def test_names_of_methods_and_arguments():
    import inspect
    from dragon.vm import keras
    for name in ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch",
                 "train_step", "test_step", "predict_step", "compute_loss", "compute_metrics", "get_metrics_result",
                 "reset_metrics", "get_compile_config", "compile_from_config"):
        expected = inspect.signature(getattr(genuine.keras.Model, name)).parameters
        got = inspect.signature(getattr(keras.Model, name)).parameters
        assert [(p.name, p.default) for p in got.values()] == [(p.name, p.default) for p in expected.values()]


def test_all_names_of_models_that_train():
    from dragon.vm import keras
    from dragon.vm.keras.trainers.trainer import Trainer
    absent = {"distribute_strategy", "distribute_reduction_method"}  # there are no replicas
    expected = set(dir(genuine.keras.Model)) - set(dir(genuine.keras.Layer))
    names = {name for name in expected if not name.startswith("_")} - absent - {"loss"}
    assert not {name for name in names if not hasattr(keras.Model, name)}
    assert hasattr(keras.Sequential([]), "loss") and issubclass(keras.Model, Trainer)
