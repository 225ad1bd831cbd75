"""`ExportArchive`: endpoints in ONNX files, run by another program, and genuine Keras's errors."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness import genuine

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")
layers = keras.layers
SPEC = [keras.InputSpec(shape=(None, 3), dtype="float32")]
X = np.random.RandomState(0).rand(4, 3).astype("float32")


def network():
    """Return a small model."""
    return keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu", name="first"),
                             layers.Dropout(0.5), layers.Dense(2, name="second")])


def run(path, *arrays):
    """Return what another program makes of a file, and the model that is in it."""
    loaded = onnx.load(str(path))
    feeds = {face.name: array for face, array in zip(loaded.graph.input, arrays)}
    return reference.ReferenceEvaluator(loaded).run(None, feeds), loaded


def test_one_endpoint(tmp_path, capsys):
    model, path = network(), tmp_path / "model.onnx"
    archive = keras.export.ExportArchive()
    archive.track(model)
    serve = archive.add_endpoint("serve", model.call, SPEC)
    np.testing.assert_allclose(serve(X).numpy(), model(X).numpy(), rtol=1e-6)
    archive.add_variable_collection("kept", [model.layers[0].bias])
    archive.write_out(path, format="onnx")
    assert "* Endpoint 'serve'" in capsys.readouterr().out
    (found,), loaded = run(path, X)
    np.testing.assert_allclose(found, model(X).numpy(), rtol=1e-5, atol=1e-6)
    names = [one.name for one in loaded.graph.initializer]
    assert [name for name in names if name.startswith("kept/0/")] and loaded.graph.input[0].name == "inputs"
    assert [len(archive.variables), len(archive.trainable_variables), len(archive.non_trainable_variables)] == [
        len(model.variables), 4, len(model.non_trainable_variables)]


def test_several_endpoints(tmp_path):
    model, scale = network(), tf.Variable(3.0)

    @tf.function
    def scaled(x):
        return {"scaled": model(x) * scale}

    archive = keras.export.ExportArchive(format="onnx")
    archive.track_and_add_endpoint("plain", model, SPEC)
    with pytest.raises(ValueError, match="never been called"):
        archive.add_endpoint("scaled", scaled)
    scaled(tf.constant(X))
    archive.add_endpoint("scaled", scaled)
    other = tf.TensorSpec((None, 3), tf.float32, name="other")
    archive.add_endpoint("pair", lambda a, b: model(a + b), [SPEC[0], other])
    archive.add_endpoint("listed", lambda both: both[0] - both[1], [[SPEC[0], SPEC[0]]])
    archive.write_out(tmp_path / "all", verbose=False)
    expected = model(X).numpy()
    for name, arrays, result in (("plain", [X], expected), ("scaled", [X], expected * 3),
                                 ("pair", [X / 2, X / 2], expected), ("listed", [X, X / 2], X / 2)):
        found, _ = run(tmp_path / "all" / f"{name}.onnx", *arrays)
        np.testing.assert_allclose(found[0], result, rtol=1e-5, atol=1e-6)


def make(k, use):
    """Return an archive of a framework's after it was used, given a model."""
    archive = k.export.ExportArchive()
    use(k, archive, k.Sequential([k.Input((3,)), k.layers.Dense(2)]))
    return archive


ERRORS = {
    "no endpoint": lambda k, a, m: a.write_out("nowhere"),
    "unbuilt": lambda k, a, m: a.track(k.layers.Dense(2)),
    "resource": lambda k, a, m: a.track(3),
    "twice": lambda k, a, m: [a.add_endpoint("serve", m.call, [k.InputSpec(shape=(None, 3), dtype="float32")])
                              for _ in range(2)],
    "no signature": lambda k, a, m: a.add_endpoint("serve", m.call),
    "collection": lambda k, a, m: a.add_variable_collection("kept", 3),
    "no variables": lambda k, a, m: a.add_variable_collection("kept", [3]),
    "format": lambda k, a, m: k.export.ExportArchive(format="nonsense"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    with pytest.raises(ValueError) as expected:
        make(genuine.keras, ERRORS[name])
    with pytest.raises(ValueError) as found:
        make(keras, ERRORS[name])
    assert str(found.value)[:30] == str(expected.value)[:30]


def test_what_is_missing_is_said(tmp_path):
    archive = make(keras, lambda k, archive, model: archive.track_and_add_endpoint("serve", model, SPEC))
    with pytest.raises(NotImplementedError, match="openvino"):
        archive.write_out(tmp_path / "model", format="openvino")
    with pytest.raises(NotImplementedError, match="neptune_model"):
        keras.export.ExportArchive(format="neptune_model")


def test_a_method_s_owner_is_tracked(tmp_path):
    first, second = keras.layers.Dense(2), keras.layers.Dense(3)
    archive = keras.export.ExportArchive()
    for name, layer, size in (("one", first, 4), ("two", second, 5)):
        layer.build((None, size))
        archive.add_endpoint(name, layer.call, [keras.InputSpec(shape=(None, size), dtype="float32")])
    archive.track(first)
    assert len(archive.variables) == 4
    archive.write_out(str(tmp_path / "folder"), verbose=False)
    again = tf.saved_model.load(str(tmp_path / "folder"))
    x = np.ones((3, 5), "float32")
    np.testing.assert_allclose(np.asarray(again.two(x)), np.asarray(second(x)), rtol=1e-6)
