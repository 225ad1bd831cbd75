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


def images(*more):
    """Return a model of images of any height and width."""
    return keras.Sequential([keras.Input((None, None, 3)), *more])


def joined(merge):
    """Return a model of two sequences whose lengths are not known, and must be alike."""
    a, b = keras.Input((None, 4)), keras.Input((None, 4))
    return keras.Model([a, b], merge([layers.Dense(3)(a), layers.Dense(3)(b)]))


OPEN = {
    "valid": (lambda: images(layers.Conv2D(4, 5), layers.MaxPooling2D(3)), [(11, 12, 3)], [(2, 30, 17, 3)]),
    "cropped": (lambda: images(layers.CenterCrop(4, 5)), [(8, 9, 3)], [(3, 5, 7, 3)]),
    **{f"{kind.__name__} of {window} by {step}": (
        lambda kind=kind, window=window, step=step: images(kind(4, window, strides=step, padding="same")
                                                           if kind is layers.Conv2D else
                                                           kind(window, strides=step, padding="same")),
        [(9, 10, 3)], [(1, 7, 7, 3), (1, 8, 13, 3), (2, 20, 31, 3), (1, 3, 47, 3), (1, 2, 6, 3)])
       for kind, window, step in ((layers.Conv2D, 3, 2), (layers.Conv2D, 5, 3), (layers.Conv2D, 4, 4),
                                  (layers.MaxPooling2D, 3, 2), (layers.AveragePooling2D, 7, 2))},
    "added": (lambda: joined(layers.Add()), [(5, 4)] * 2, [(3, 9, 4)] * 2),
    "multiplied": (lambda: joined(layers.Dot(axes=1)), [(5, 4)] * 2, [(3, 9, 4)] * 2),
    "attended": (lambda: joined(layers.Attention()), [(5, 4)] * 2, [(3, 9, 4)] * 2),
}


@pytest.mark.parametrize("name", OPEN)
def test_sizes_that_are_not_known(name, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    make, first, others = OPEN[name]
    model, path = make(), str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    faces = session.get_inputs()
    shapes = [[(2, *shape) for shape in first], *([shape] for shape in others)] if len(faces) == 1 else [
        [(2, *shape) for shape in first], others]
    for group in shapes:
        inputs = [np.random.RandomState(number).rand(*shape).astype("float32") for number, shape in enumerate(group)]
        expected = model(inputs if len(inputs) > 1 else inputs[0], training=False).numpy()
        found = session.run(None, {face.name: array for face, array in zip(faces, inputs)})[0]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


class Adder(keras.Model):
    """A model of two arguments."""

    def build(self, x_shape, y_shape):
        self.built = True

    def call(self, x, y):
        return x + y


def test_samples_are_not_counted_where_the_model_was_called_with_some(tmp_path):
    path = str(tmp_path / "model.onnx")
    x = np.ones((3, 5), "float32")
    for model, given in ((keras.Sequential([layers.Dense(2)]), [x]), (Adder(), [x, 2 * x])):
        model(*given)
        model.export(path, format="onnx", verbose=False)
        loaded = onnx.load(path)
        twice = [np.concatenate([one, one]) for one in given]
        found, = reference.ReferenceEvaluator(loaded).run(
            None, {face.name: array for face, array in zip(loaded.graph.input, twice)})
        np.testing.assert_allclose(found, np.asarray(model(*twice)), rtol=1e-6)


def test_what_is_not_exported_says_why(tmp_path):
    with pytest.raises(ValueError, match="It must be built"):
        keras.Sequential([layers.Dense(2)]).export(tmp_path / "model.onnx", format="onnx")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    with pytest.raises(TypeError, match="Unsupported x=123"):
        model.export(tmp_path / "model.onnx", format="onnx", input_signature=(123,))
