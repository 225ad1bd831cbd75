"""Programs that are saved here, and what genuine TensorFlow makes of them."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine

RNG = np.random.default_rng(0)


class Inner(ours.Module):
    def __init__(self):
        super().__init__()
        self.scale = ours.Variable(3.0)

    @ours.function(input_signature=[ours.TensorSpec([2], ours.float32)])
    def times(self, x):
        return x * self.scale


class Program(ours.Module):
    def __init__(self):
        super().__init__()
        self.w = ours.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.fixed = ours.Variable(2.0, trainable=False)
        self.parts = [Inner(), {"k": ours.Variable([1, 2], dtype=ours.int64)}]

    @ours.function(input_signature=[ours.TensorSpec([None, 2], ours.float32)])
    def __call__(self, x):
        return {"out": ours.matmul(x, self.w) * self.fixed, "sum": ours.reduce_sum(x, 1)}

    @ours.function
    def several(self, x, training=False, *, flag=1):
        return ours.nn.softmax(x) * self.parts[0].scale if training else (ours.tanh(x), [x + flag, None])

    @ours.function
    def nested(self, given):
        return given["a"][0] - given["b"], ours.cast(self.parts[1]["k"], ours.float32) * given["a"][1]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Return a program, and as what genuine TensorFlow and Dragon load it."""
    made, folder = Program(), str(tmp_path_factory.mktemp("saved") / "program")
    made.several(ours.ones([3]))
    made.several.get_concrete_function(ours.TensorSpec([None, 4]), True)
    made.nested({"a": [ours.ones([2]), ours.ones([2])], "b": ours.ones([2])})
    ours.saved_model.save(made, folder, signatures={"serving_default": made.__call__, "times": made.parts[0].times})
    return made, (genuine.tf, genuine.tf.saved_model.load(folder)), (ours, ours.saved_model.load(folder))


def flatten(value):
    if isinstance(value, dict):
        return [one for key in sorted(value) for one in flatten(value[key])]
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in flatten(item)]
    return [] if value is None else [value.numpy()]


CALLS = {
    "call": lambda tf, m: m(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
    "one trace": lambda tf, m: m.several(tf.constant([1.0, 2.0, 3.0])),
    "other trace": lambda tf, m: m.several(tf.ones([2, 4]), True),
    "nested": lambda tf, m: m.nested({"a": [tf.constant([1.0, 2.0]), tf.ones([2])], "b": tf.ones([2])}),
    "part": lambda tf, m: m.parts[0].times(tf.constant([1.0, 2.0])),
    "variables": lambda tf, m: [m.w, m.fixed, m.parts[0].scale, m.parts[1]["k"]]}


@pytest.mark.parametrize("name", CALLS)
def test_equal(loaded, name):
    made, *others = loaded
    expected = flatten(CALLS[name](ours, made))
    for tf, model in others:
        found = flatten(CALLS[name](tf, model))
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_signatures(loaded):
    made, (tf, model), (_, again) = loaded
    for world, one in ((tf, model), (ours, again)):
        assert sorted(one.signatures) == ["serving_default", "times"]
        found = one.signatures["serving_default"](x=world.ones([4, 2]))
        assert found["out"].numpy().tolist() == [[8.0, 12.0]] * 4
        assert one.signatures["times"](x=world.ones([2]))["output_0"].numpy().tolist() == [3.0, 3.0]


def test_gradients_in_tensorflow(loaded):
    _, (tf, model), _ = loaded
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones([3, 2]))["out"])
    assert tape.gradient(loss, model.w).numpy().tolist() == [[6.0, 6.0], [6.0, 6.0]]
    assert model.w.trainable and not model.fixed.trainable


@pytest.mark.parametrize("name", ["read", "in a branch", "in a loop", "of a list", "constant"])
def test_variables_that_nothing_owns(tmp_path, name):
    for tf in (genuine.tf, ours):
        v, module = tf.Variable(2.0), tf.Module()
        held, fixed = [v], tf.constant([1.0, 2.0])
        function = {"read": lambda x: x * v, "in a branch": lambda x: tf.cond(x[0] > 0, lambda: x * v, lambda: x),
                    "in a loop": lambda x: tf.map_fn(lambda row: row * v, x), "of a list": lambda x: x + held[0],
                    "constant": lambda x: x + fixed}[name]
        module.f = tf.function(function, input_signature=[tf.TensorSpec([2])])
        if name == "constant":
            tf.saved_model.save(module, str(tmp_path / tf.__name__))
            continue
        with pytest.raises(AssertionError, match="references an 'untracked' resource"):
            tf.saved_model.save(module, str(tmp_path / tf.__name__))


def test_what_is_not_written(tmp_path):
    hidden = ours.Variable(1.0)
    writes = ours.Module()
    writes.step = ours.function(lambda x: hidden.assign_add(x), input_signature=[ours.TensorSpec([])])
    with pytest.raises(AssertionError, match="an 'untracked' resource"):
        ours.saved_model.save(writes, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="variables and functions"):
        ours.saved_model.save(3, str(tmp_path / "c"))
    with pytest.raises(ValueError, match="input_signature or one trace"):
        ours.saved_model.save(ours.Module(), str(tmp_path / "d"), signatures=ours.function(lambda x: x))
    with pytest.raises(NotImplementedError, match="function_aliases"):
        ours.saved_model.SaveOptions(function_aliases={"a": 1})
    inverse = ours.Module()
    inverse.f = ours.function(ours.linalg.inv, input_signature=[ours.TensorSpec([2, 2])])
    with pytest.raises((ours.errors.UnimplementedError, NotImplementedError, RuntimeError), match="(?i)inv"):
        ours.saved_model.save(inverse, str(tmp_path / "e"))


L = keras.layers
MODELS = {
    "dense": ((4,), lambda: [L.Dense(3, "tanh"), L.Dense(2, "softmax")]),
    "images": ((12, 12, 3), lambda: [
        L.Conv2D(4, 3, padding="same", strides=2), L.BatchNormalization(), L.MaxPooling2D(), L.DepthwiseConv2D(2),
        L.Flatten(), L.Dense(3)]),
    "transposed": ((6, 6, 3), lambda: [
        L.Conv2DTranspose(4, 3, strides=2, padding="same"), L.Conv2DTranspose(2, 3, strides=2, output_padding=1),
        L.SeparableConv2D(5, 3, activation="gelu"), L.GroupNormalization(5), L.AveragePooling2D(2)]),
    "sequences": ((12, 3), lambda: [
        L.Conv1D(4, 3, padding="causal", dilation_rate=2), L.MaxPooling1D(2), L.LayerNormalization(),
        L.ZeroPadding1D(1), L.GlobalAveragePooling1D()]),
    "volumes": ((6, 6, 6, 2), lambda: [
        L.Conv3D(4, 3, padding="same"), L.MaxPooling3D(2), L.UpSampling3D(2), L.Conv3DTranspose(2, 2),
        L.GlobalAveragePooling3D()]),
    "activations": ((8,), lambda: [L.Activation(name) for name in """
        elu selu softplus softsign tanh sigmoid hard_sigmoid silu gelu relu6 leaky_relu exponential log_softmax
        """.split()]),
    "recurrent": ((5, 3), lambda: [
        L.LSTM(4, return_sequences=True), L.Bidirectional(L.GRU(3, return_sequences=True)), L.SimpleRNN(2)]),
    "recurrent_otherwise": ((5, 3), lambda: [
        L.GRU(4, reset_after=False, return_sequences=True), L.LSTM(3, "relu", go_backwards=True)]),
    "convolved_steps": ((4, 6, 6, 2), lambda: [L.ConvLSTM2D(3, 2)]),
    "one_axis": ((8, 4), lambda: [
        L.Conv1DTranspose(5, 3, strides=2, padding="same"), L.DepthwiseConv1D(3), L.AveragePooling1D(2, 1, "same")]),
    "resized": ((6, 5, 2), lambda: [L.Resizing(4, 7), L.AveragePooling2D(2, padding="same")]),
    "grouped": ((8, 8, 4), lambda: [L.Conv2D(6, 3, groups=2), L.PReLU(), L.Permute((3, 1, 2)), L.Reshape((-1, 6)),
                                    L.UnitNormalization()])}


@pytest.mark.parametrize("name", MODELS)
def test_keras_models(tmp_path, name):
    shape, make = MODELS[name]
    model = keras.Sequential([keras.Input(shape), *make()])
    check(model, RNG.normal(size=(2, *shape)).astype("float32"), str(tmp_path / "model"))


def check(model, x, folder):
    """Export a model, and compare with what genuine TensorFlow makes of the folder, for one batch more as well."""
    model.export(folder, verbose=False)
    theirs = genuine.tf.saved_model.load(folder)
    for batch in (x, np.concatenate([x, x[:1]])):
        expected = model(batch, training=False).numpy()
        for found in (theirs.serve(batch), *theirs.signatures["serving_default"](genuine.tf.constant(batch)).values(),
                      ours.saved_model.load(folder).serve(ours.constant(batch))):
            np.testing.assert_allclose(found.numpy(), expected, rtol=2e-4, atol=2e-5)
    assert len(theirs.trainable_variables) == len(model.trainable_variables)


@pytest.mark.long("genuine TensorFlow makes a graph of each of some hundred layers")
@pytest.mark.parametrize("name", ["MobileNetV2", "ResNet50"])
def test_applications(tmp_path, name):
    make = getattr(keras.applications, name)
    model = make(weights=None, input_shape=(64, 64, 3), classes=5, classifier_activation=None)
    check(model, RNG.random((2, 64, 64, 3), dtype="float32"), str(tmp_path / "model"))


def test_several_inputs(tmp_path):
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    y = L.Concatenate()([a, L.Dense(3)(b)])
    model = keras.Model({"a": a, "b": b}, {"y": y, "z": a - b})
    model.export(str(tmp_path / "model"), verbose=False)
    theirs = genuine.tf.saved_model.load(str(tmp_path / "model"))
    x = {"a": RNG.normal(size=(3, 4)).astype("float32"), "b": RNG.normal(size=(3, 4)).astype("float32")}
    expected = model(x)
    for found in (theirs.serve(x), theirs.signatures["serving_default"](**{key: genuine.tf.constant(value)
                                                                           for key, value in x.items()})):
        for key in ("y", "z"):
            np.testing.assert_allclose(found[key].numpy(), expected[key].numpy(), rtol=1e-5, atol=1e-6)


def test_archive(tmp_path):
    model = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", model.call, [keras.InputSpec(shape=(None, 3), dtype="float32")])
    archive.add_endpoint("double", lambda x: model(x) * 2.0, [keras.InputSpec(shape=(None, 3), dtype="float32")])
    archive.add_variable_collection("kept", model.trainable_variables[:1])
    archive.write_out(str(tmp_path / "model"), verbose=False)
    theirs = genuine.tf.saved_model.load(str(tmp_path / "model"))
    x = np.ones((2, 3), "float32")
    np.testing.assert_allclose(theirs.double(x).numpy(), model(x).numpy() * 2, rtol=1e-6)
    assert sorted(theirs.signatures) == ["double", "serve", "serving_default"] and len(theirs.kept) == 1


def make_default(name, tf, keras):
    """Return something whose signatures nobody names."""
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    both = keras.layers.Concatenate()([a, b])

    class One(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def double(self, x):
            return {"twice": x * 2.0}

    class Two(One):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def triple(self, x):
            return x * 3.0

    class Nested(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def nested(self, x):
            return {"a": {"b": x}}
    return {"inputs": lambda: keras.Model([a, b], keras.layers.Dense(2)(both)),
            "results": lambda: keras.Model({"a": a, "b": b}, {"y": keras.layers.Dense(2)(both), "z": a * 2.0}),
            "sequence": lambda: keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]),
            "layer": lambda: keras.layers.Dense(2), "one": One, "two": Two, "nested": Nested}[name]()


@pytest.mark.parametrize("name", ["inputs", "results", "sequence", "layer", "one", "two", "nested"])
def test_signatures_that_nobody_names(tmp_path, name):
    told = []
    for place, (tf, face) in enumerate(((genuine.tf, genuine.keras), (ours, keras))):
        tf.saved_model.save(make_default(name, tf, face), str(tmp_path / str(place)))
        loaded = genuine.tf.saved_model.load(str(tmp_path / str(place)))
        told.append({key: (call.structured_input_signature, call.structured_outputs)
                     for key, call in loaded.signatures.items()})
    assert told[0] == told[1]
