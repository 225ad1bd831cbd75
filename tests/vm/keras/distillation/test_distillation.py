"""`keras.distillation` against genuine Keras: the same weights, the same histories."""
import numpy as np
import pytest

from dragon.vm import keras
from harness import genuine

RANDOM = np.random.RandomState(0)
X, Y = RANDOM.rand(24, 6).astype("float32"), RANDOM.randint(0, 3, (24,))


def network(k, units, name):
    """Return a small classifier."""
    return k.Sequential([k.Input((6,)), k.layers.Dense(units, activation="relu", name="hidden"),
                         k.layers.Dense(3, name="logits")], name=name)


LOSSES = {
    "logits": lambda d, k: d.LogitsDistillation(temperature=2.0),
    "huber": lambda d, k: d.LogitsDistillation(loss=k.losses.Huber(delta=0.5)),
    "features": lambda d, k: d.FeatureDistillation("mse", "hidden", "hidden"),
    "both": lambda d, k: [d.LogitsDistillation(), d.FeatureDistillation("mae", "hidden", "hidden")],
}


def distilled(k, name, tmp_path):
    """Return a distiller's histories and what it says after it was saved."""
    k.utils.set_random_seed(0)
    d = k.distillation
    model = d.Distiller(network(k, 5, "teacher"), network(k, 5, "student"), LOSSES[name](d, k),
                        [1.0, 0.5] if name == "both" else None, student_loss_weight=0.3)
    model.compile("sgd", k.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    history = model.fit(X, Y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
    config = model.get_config()
    copy = d.Distiller.from_config(config)
    assert type(copy.distillation_losses[0]) is type(model.distillation_losses[0])
    assert not model.teacher.trainable_variables
    return history, model.predict(X, verbose=0), config


@pytest.mark.parametrize("name", LOSSES)
def test_histories(name, tmp_path):
    history, answers, config = distilled(keras, name, tmp_path)
    expected, told, genuine_config = distilled(genuine.keras, name, tmp_path)
    assert list(history) == list(expected)
    for key in expected:
        np.testing.assert_allclose(history[key], expected[key], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(answers, told, rtol=1e-4, atol=1e-5)
    assert sorted(config) == sorted(genuine_config)
    for one, other in zip(config["distillation_losses"], genuine_config["distillation_losses"]):
        assert (one["module"], one["class_name"]) == (other["module"], other["class_name"])


def two_models(k):
    return network(k, 4, "teacher"), network(k, 5, "student")


ERRORS = {
    "no losses": lambda k: k.distillation.Distiller(*two_models(k), None),
    "weights": lambda k: k.distillation.Distiller(*two_models(k), [k.distillation.LogitsDistillation()], [1.0, 2.0]),
    "part": lambda k: k.distillation.Distiller(*two_models(k), k.distillation.LogitsDistillation(),
                                               student_loss_weight=2.0),
    "temperature": lambda k: k.distillation.LogitsDistillation(temperature=-1.0),
    "no loss": lambda k: k.distillation.FeatureDistillation(loss=None),
    "no model": lambda k: k.distillation.Distiller(3, 4, k.distillation.LogitsDistillation()),
    "layer": lambda k: k.distillation.Distiller(*two_models(k), k.distillation.FeatureDistillation("mse", "none", "x")),
    "compile": lambda k: k.distillation.Distiller(*two_models(k), k.distillation.LogitsDistillation()).compile("sgd"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    with pytest.raises(ValueError) as expected:
        ERRORS[name](genuine.keras)
    with pytest.raises(ValueError) as found:
        ERRORS[name](keras)
    assert str(found.value)[:24] == str(expected.value)[:24]


def test_a_loss_of_a_user(tmp_path):
    class Distance(keras.distillation.DistillationLoss):
        def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
            return keras.ops.mean(keras.ops.abs(teacher_outputs - student_outputs))

    model = keras.distillation.Distiller(*two_models(keras), Distance(), student_loss_weight=0.0)
    model.compile("adam", "sparse_categorical_crossentropy")
    losses = model.fit(X, Y, epochs=3, verbose=0).history["distillation_loss"]
    assert losses[-1] < losses[0]
    with pytest.raises(NotImplementedError, match="DistillationLoss"):
        keras.distillation.DistillationLoss().compute_loss(None, None)


def test_files(tmp_path):
    model = keras.distillation.Distiller(*two_models(keras), keras.distillation.LogitsDistillation())
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(X, Y, verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-6)
