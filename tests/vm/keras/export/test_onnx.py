"""Exported models, run by another program, return what the models do."""
import numpy as np
import pytest

from dragon.vm import keras

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")
layers = keras.layers


def two_inputs():
    """Return a graph with two inputs and two outputs."""
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    joined = layers.Concatenate()([a, b])
    return keras.Model([a, b], [layers.Dense(2)(joined), layers.Dense(1, activation="sigmoid")(joined)])


MODELS = {
    "mlp": (lambda: keras.Sequential([keras.Input((5,)), layers.Dense(4, activation="relu"), layers.Dropout(0.5),
                                      layers.Dense(3, activation="softmax")]), [(3, 5)]),
    "cnn": (lambda: keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(4, 3, padding="same"),
                                      layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
                                      layers.Flatten(), layers.Dense(2)]), [(3, 8, 8, 3)]),
    "two inputs": (two_inputs, [(5, 4), (5, 3)]),
    "lstm": (lambda: keras.Sequential([keras.Input((6, 4)), layers.LSTM(3)]), [(2, 6, 4)]),
}


@pytest.mark.parametrize("name", MODELS)
def test_another_program_agrees(name, tmp_path):
    make, shapes = MODELS[name]
    model = make()
    path = str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    inputs = [np.random.RandomState(number).rand(*shape).astype("float32") for number, shape in enumerate(shapes)]
    expected = keras.tree.flatten(model(inputs if len(inputs) > 1 else inputs[0]))
    loaded = onnx.load(path)
    feeds = {face.name: array for face, array in zip(loaded.graph.input, inputs)}
    for one, other in zip(reference.ReferenceEvaluator(loaded).run(None, feeds), expected):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-4, atol=1e-5)


def test_what_is_missing_is_said(tmp_path):
    model = MODELS["mlp"][0]()
    with pytest.raises(NotImplementedError, match="litert"):
        model.export(str(tmp_path / "model"), format="litert")
    with pytest.raises(ValueError, match="nonsense"):
        model.export(str(tmp_path / "model"), format="nonsense")
