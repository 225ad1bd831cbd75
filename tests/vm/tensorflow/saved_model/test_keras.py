"""Models that genuine Keras exports, and `keras.layers.TFSMLayer`."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine

RNG = np.random.default_rng(0)


def scatter_weights(model):
    """Give a model weights whose outputs differ from class to class."""
    for variable in model.variables:
        if variable.name == "moving_variance":
            variable.assign(RNG.uniform(0.5, 1.5, variable.shape))
        elif variable.name in ("moving_mean", "beta", "bias"):
            variable.assign(RNG.normal(0, 0.1, variable.shape))


def check(model, x, folder, save=None):
    """Compare a genuine model with what is loaded of it, for the batch and for one more."""
    (save or (lambda: model.export(folder, verbose=False)))()
    loaded = ours.saved_model.load(folder)
    call = loaded.signatures["serving_default"]
    name = call._names()[0]
    for batch in (x, np.concatenate([x, x[:1]])):
        expected = model(batch, training=False).numpy()
        found = next(iter(call(**{name: ours.constant(batch)}).values())).numpy()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5 * max(1.0, np.abs(expected).max()))
    return loaded


@pytest.mark.long("genuine TensorFlow makes a graph of each of some hundred layers")
@pytest.mark.parametrize("name", ["MobileNetV2", "ResNet50"])
def test_applications(tmp_path, name):
    make = getattr(genuine.keras.applications, name)
    model = make(weights=None, input_shape=(64, 64, 3), classes=10, classifier_activation=None)
    scatter_weights(model)
    x = RNG.random((2, 64, 64, 3), dtype="float32")
    loaded = check(model, x, str(tmp_path / "exported"))
    assert len(loaded.variables) == len(model.variables)
    call = ours.function(lambda x: loaded.serve(x))
    np.testing.assert_allclose(call(ours.constant(x)).numpy(), model(x, training=False).numpy(), rtol=1e-3, atol=1e-3)
    assert call.fallback is None
    with ours.GradientTape() as tape:
        loss = ours.reduce_sum(loaded.serve(ours.constant(x)))
    slopes = tape.gradient(loss, loaded.trainable_variables)
    assert len(slopes) == len(model.trainable_variables) and all(slope is not None for slope in slopes)


@pytest.mark.long("genuine TensorFlow saves a whole network")
def test_application_saved_by_tensorflow(tmp_path):
    model = genuine.keras.applications.MobileNetV2(weights=None, input_shape=(32, 32, 3), classes=5)
    folder = str(tmp_path / "saved")
    check(model, RNG.random((2, 32, 32, 3), dtype="float32"), folder,
          lambda: genuine.tf.saved_model.save(model, folder))


def rows():
    """Return {name: (input shape, dtype, layers, input)}."""
    x, words = RNG.normal(size=(2, 7, 5)).astype("float32"), np.array([[1, 2, 3, 0], [4, 5, 0, 0]], "int32")
    image, volume = RNG.normal(size=(2, 12, 12, 3)).astype("float32"), RNG.normal(size=(1, 6, 6, 6, 2))
    return {
        "lstm": ((7, 5), "float32", lambda L: [L.LSTM(6, return_sequences=True), L.Bidirectional(L.GRU(4))], x),
        "any_length": ((None, 5), "float32", lambda L: [L.LSTM(6, return_sequences=True), L.SimpleRNN(4)], x),
        "masked": ((4,), "int32", lambda L: [L.Embedding(10, 6, mask_zero=True), L.LSTM(6)], words),
        "images": ((12, 12, 3), "float32", lambda L: [
            L.Conv2D(4, 3, padding="same", strides=2), L.BatchNormalization(), L.PReLU(),
            L.Conv2DTranspose(3, 3, strides=2, padding="same"), L.SeparableConv2D(5, 3, activation="gelu"),
            L.UpSampling2D(2, interpolation="bilinear"), L.AveragePooling2D(2, padding="same"),
            L.GroupNormalization(5), L.GlobalMaxPooling2D()], image),
        "sequences": ((7, 5), "float32", lambda L: [
            L.Conv1D(4, 3, padding="causal", dilation_rate=2), L.MaxPooling1D(2), L.ZeroPadding1D(1),
            L.Conv1DTranspose(4, 3), L.LayerNormalization(), L.Flatten(), L.Dense(4, "softmax")], x),
        "volumes": ((6, 6, 6, 2), "float32", lambda L: [
            L.Conv3D(4, 3, padding="same"), L.MaxPooling3D(2), L.Conv3DTranspose(2, 3), L.GlobalAveragePooling3D()],
            volume.astype("float32")),
        "numbers": ((5,), "float32", lambda L: [
            L.Normalization(mean=0.5, variance=2.0), L.Rescaling(2.0, 1.0), L.Discretization([-1.0, 0.0, 1.0]),
            L.CategoryEncoding(4)], x[0])}


@pytest.mark.parametrize("name", rows())
def test_layers(tmp_path, name):
    shape, dtype, layers, x = rows()[name]
    made = genuine.keras.Sequential([genuine.keras.Input(shape, dtype=dtype), *layers(genuine.keras.layers)])
    check(made, x, str(tmp_path / "exported"))


@pytest.mark.parametrize("mode", ["int", "multi_hot", "tf_idf"])
def test_text(tmp_path, mode):
    layers, tf = genuine.keras.layers, genuine.tf
    vectorize = layers.TextVectorization(max_tokens=20, output_mode=mode, ngrams=2)
    vectorize.adapt(["the cat sat", "a dog ran, the end", "cat & dog!"])
    model = genuine.keras.Sequential([genuine.keras.Input((), dtype="string"), vectorize])
    model.export(str(tmp_path / "exported"), verbose=False)
    text = ["the cat ran!", "unknown DOG"]
    found = ours.saved_model.load(str(tmp_path / "exported")).serve(ours.constant(text)).numpy()
    np.testing.assert_allclose(found, model(tf.constant(text)).numpy(), rtol=1e-6)


def test_lookups(tmp_path):
    layers, tf = genuine.keras.layers, genuine.tf
    a, b = genuine.keras.Input((2,), dtype="string", name="a"), genuine.keras.Input((2,), dtype="int64", name="b")
    outputs = {"words": layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=2)(a),
               "numbers": layers.IntegerLookup(vocabulary=[3, 5, 7])(b), "hashed": layers.Hashing(11)(a)}
    model = genuine.keras.Model({"a": a, "b": b}, outputs)
    model.export(str(tmp_path / "exported"), verbose=False)
    words, numbers = [["a", "zz"], ["b", "y"]], np.array([[3, 9], [7, 5]], "int64")
    expected = model({"a": tf.constant(words), "b": tf.constant(numbers)})
    found = ours.saved_model.load(str(tmp_path / "exported")).serve({"a": ours.constant(words),
                                                                     "b": ours.constant(numbers)})
    assert {key: value.numpy().tolist() for key, value in found.items()} == {
        key: value.numpy().tolist() for key, value in expected.items()}


@pytest.fixture
def exported(tmp_path):
    """Return a genuine model and the folder that it was exported to."""
    layers = genuine.keras.layers
    model = genuine.keras.Sequential([genuine.keras.Input((4,)), layers.Dense(3, "tanh"), layers.Dense(2)])
    model.export(str(tmp_path / "exported"), verbose=False)
    return model, str(tmp_path / "exported")


def test_layer_of_a_program(exported, tmp_path):
    model, folder = exported
    layer, x = keras.layers.TFSMLayer(folder), RNG.normal(size=(6, 4)).astype("float32")
    np.testing.assert_allclose(layer(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
    assert len(layer.trainable_weights) == 4 and layer.get_config()["call_endpoint"] == "serve"
    inputs = keras.Input((4,))
    outputs = layer(inputs)
    assert outputs.shape == (None, 2)
    whole = keras.Model(inputs, keras.layers.Dense(1)(outputs))
    whole.compile("sgd", "mse")
    before = [weight.numpy().copy() for weight in layer.weights]
    whole.fit(x, np.ones((6, 1)), epochs=1, verbose=0)
    assert all((weight.numpy() != old).any() for weight, old in zip(layer.weights, before))
    path = str(tmp_path / "whole.keras")
    whole.save(path)
    with pytest.raises(ValueError, match="TFSMLayer"):
        keras.models.load_model(path)
    again = keras.models.load_model(path, safe_mode=False)
    np.testing.assert_array_equal(again.predict(x, verbose=0), whole.predict(x, verbose=0))


def test_layer_of_a_signature(exported):
    model, folder = exported
    x = RNG.normal(size=(2, 4)).astype("float32")
    layer = keras.layers.TFSMLayer(folder, call_endpoint="serving_default")
    np.testing.assert_allclose(layer(x)["output_0"].numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="neither an attribute"):
        keras.layers.TFSMLayer(folder, call_endpoint="nothing")
