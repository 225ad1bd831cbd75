"""What every layer can do: building, masks, training, losses, dtypes, names, configurations; as in genuine Keras."""
import copy
import json
import warnings

import numpy as np
import pytest
from harness.keras_programs import check, weights_of
from harness.subresults import each

X = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")


def tensor(keras, array=X):
    """Return an array as a tensor of one of the two."""
    return keras.ops.convert_to_tensor(array)


def tell(layer):
    """Return what can be told of a layer without numbers."""
    return [layer.name, layer.path, layer.built, [w.path for w in layer.weights],
            [w.path for w in layer.trainable_weights], [w.path for w in layer.non_trainable_weights],
            [tuple(w.shape) for w in layer.weights], [str(w.dtype) for w in layer.weights]]


def scaled(keras):
    """Return a class of layers with weights of both kinds."""
    class Scaled(keras.layers.Layer):
        def __init__(self, factor=2.0, label="x", **kwargs):
            super().__init__(**kwargs)
            self.factor, self.label = factor, label

        def build(self, input_shape):
            self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False, name="steps", dtype="int32")
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale",
                                         regularizer=keras.regularizers.L2(0.1))

        def call(self, x, training=None):
            self.add_loss(keras.ops.sum(x) * 0.5)
            if training:
                x = -x
            return x * self.scale * self.factor
    return Scaled


def outer(keras):
    """Return a class of layers with layers in them and no `build`."""
    class Outer(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = scaled(keras)(name="inner")
            self.dense = [keras.layers.Dense(2), keras.layers.Dense(1)]

        def call(self, x, training=None):
            x = self.inner(x)
            for layer in self.dense:
                x = layer(x)
            return x
    return Outer


def two_inputs(keras):
    """Return a class of layers that are built with two shapes."""
    class Two(keras.layers.Layer):
        def build(self, query_shape, value_shape):
            self.kernel = self.add_weight(shape=(query_shape[-1], value_shape[-1]), initializer="ones")

        def call(self, query, value, scale=1.0):
            return keras.ops.matmul(query, self.kernel) * scale + keras.ops.mean(value)
    return Two


def masked(keras):
    """Return a class of layers that make a mask, and one that tells it."""
    class Make(keras.layers.Layer):
        def compute_mask(self, inputs, previous_mask=None):
            return keras.ops.not_equal(inputs[..., 0], 0.0)

        def call(self, x):
            return x + 0.0

    class Tell(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.supports_masking = True

        def call(self, x, mask=None):
            return x if mask is None else keras.ops.where(mask[..., None], x, -9.0)
    return Make, Tell


def _context(keras):
    class Inner(keras.layers.Layer):
        def call(self, x, training=False):
            return x + 1.0 if training else x - 1.0

    class Middle(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = Inner()

        def call(self, x):
            return self.inner(x)

    class Outer(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.middle = Middle()

        def call(self, x, training=None):
            return self.middle(x)
    layer, x = Outer(), tensor(keras)
    return [layer(x), layer(x, training=True), layer(x, training=False), Inner()(x), Inner()(x, training=True)]


def _mixed(keras, policy):
    layer = keras.layers.Dense(2, dtype=policy)
    y = layer(tensor(keras))
    return [str(y.dtype).rpartition(".")[2].strip("'>")[-8:], layer.compute_dtype, layer.variable_dtype, layer.dtype,
            [str(w.dtype) for w in layer.weights], layer.dtype_policy.name, json.dumps(
                keras.saving.serialize_keras_object(layer.dtype_policy))]


def _shared(keras):
    layer = keras.layers.Dense(2)
    a, b = keras.Input((3,)), keras.Input((3,))
    one, two = layer(a), layer(b)
    return [len(layer._inbound_nodes), layer.input.shape, layer.output.shape, one.shape, two.shape]


def _tracked(keras):
    class Holder(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.items = [keras.layers.Dense(1)]
            self.pairs = {"a": keras.layers.Dense(2)}
            self.metric = keras.metrics.Mean(name="m")
            self.items.append(keras.layers.Dense(3))
            self.seed = keras.random.SeedGenerator(1)
            self.v = keras.Variable(1.0, name="free")
            self.nested = [(keras.layers.Dense(4), [keras.layers.Dense(5)])]
            self.items.pop(0)
    layer = Holder()
    return [[inner.units for inner in layer._layers], [m.name for m in layer.metrics], len(layer.variables),
            [w.name for w in layer.weights]]


def _locked(keras):
    layer = scaled(keras)()
    layer(tensor(keras))
    layer.late = keras.layers.Dense(2)


def _call_forms(keras):
    Two, x = two_inputs(keras), tensor(keras)
    layer = Two()
    return [layer(x, x[:, :2]), layer(x, value=x[:, :2], scale=3.0), layer(query=x, value=x[:, :2]), tell(layer),
            layer.get_build_config(), [y.shape for y in [Two()(keras.Input((3,)), keras.Input((2,)))]]]


PROGRAMS = {
    "numbers": lambda keras: (layer := scaled(keras)()) and [layer(tensor(keras)), tell(layer)],
    "arrays": lambda keras: [scaled(keras)()(X), scaled(keras)()(X.astype("float64")), keras.layers.Dense(2)(X).shape],
    "training": lambda keras: [scaled(keras)()(tensor(keras), training=mode) for mode in (True, False)],
    "context": _context,
    "losses": lambda keras: (layer := outer(keras)(), layer(tensor(keras)), layer(tensor(keras))) and layer.losses,
    "inner layers": lambda keras: (layer := outer(keras)(name="top"), layer(tensor(keras))) and tell(layer),
    "inner layers, symbolic": lambda keras: (layer := outer(keras)(), y := layer(keras.Input((3,)))) and [
        tell(layer), y.shape, y.dtype],
    "frozen": lambda keras: (layer := _built(keras, outer(keras)()), setattr(layer.inner, "trainable", False)) and [
        tell(layer), setattr(layer, "trainable", False), tell(layer), setattr(layer, "trainable", True), tell(layer)],
    "frozen from the start": lambda keras: tell(_built(keras, outer(keras)(trainable=False))),
    "activity": lambda keras: (layer := keras.layers.Dense(2, activity_regularizer="l2", kernel_initializer="ones"),
                               layer(tensor(keras))) and layer.losses,
    "two inputs": _call_forms,
    "weights": lambda keras: (layer := weights_of(_built(keras, outer(keras)()))) and [
        layer.get_weights(), layer.count_params(), layer(tensor(keras))],
    "config": lambda keras: [scaled(keras)(3.0, label="y", name="n").get_config(), outer(keras)(name="o").get_config()],
    "config round trip": lambda keras: scaled(keras).from_config(
        scaled(keras)(5.0, dtype="float64").get_config()).get_config(),
    "mixed_float16": lambda keras: _mixed(keras, "mixed_float16"),
    "mixed_bfloat16": lambda keras: _mixed(keras, "mixed_bfloat16"),
    "float64": lambda keras: _mixed(keras, "float64"),
    "policy": lambda keras: _mixed(keras, keras.DTypePolicy("mixed_float16")),
    "shared": _shared,
    "tracked": _tracked,
    "mask": lambda keras: [(made := [kind() for kind in masked(keras)]) and made[1](made[0](tensor(keras)))],
    "mask in a graph": lambda keras: (made := [kind() for kind in masked(keras)]) and keras.Model(
        x := keras.Input((3,)), made[1](made[0](x)))(tensor(keras, np.where(X > 0, X, 0).astype("float32"))),
    "shape": lambda keras: [keras.layers.Dense(7).compute_output_shape((None, 3, 4))],
    "identity": lambda keras: [keras.layers.Identity()(tensor(keras)),
                               keras.layers.Identity().compute_output_shape((2, None))],
    "names": lambda keras: [layer.name for layer in (
        keras.layers.Dense(1), keras.layers.Dense(1), keras.layers.BatchNormalization(), keras.layers.Conv2D(1, 1))],
    "repr": lambda keras: [repr(keras.layers.Dense(1)), str(keras.layers.InputSpec(ndim=2, axes={-1: 3}))],
    "not a tensor": lambda keras: scaled(keras)()("text"),
    "state after building": _locked,
    "no super": lambda keras: type("Bad", (keras.layers.Layer,), {"__init__": lambda self: None})()(tensor(keras)),
    "no call": lambda keras: keras.layers.Layer()(tensor(keras)),
    "position": lambda keras: scaled(keras)()(tensor(keras), True),
    "add_metric": lambda keras: keras.layers.Dense(1).add_metric(1),
    "name by position": lambda keras: keras.layers.Dense(1).add_weight("kernel", (2, 2)),
    "loss of no tensor": lambda keras: keras.layers.Dense(1).add_loss("x"),
    "input spec": lambda keras: _with_spec(keras, keras.layers.InputSpec(min_ndim=3)),
    "input spec, axes": lambda keras: _with_spec(keras, keras.layers.InputSpec(axes={-1: 4})),
    "input spec, dtype": lambda keras: _with_spec(keras, keras.layers.InputSpec(dtype="int32")),
    "input spec, shape": lambda keras: _with_spec(keras, keras.layers.InputSpec(shape=(None, 4))),
    "input spec, number": lambda keras: _with_spec(keras, [keras.layers.InputSpec(ndim=2)] * 2),
    "initializer": lambda keras: keras.layers.Dense(1, kernel_initializer="nonsense"),
    "config of things": lambda keras: type("Odd", (keras.layers.Layer,), {
        "__init__": lambda self, thing: keras.layers.Layer.__init__(self)})(object()).get_config(),
}


def _built(keras, layer):
    layer(tensor(keras))
    return layer


def _with_spec(keras, spec):
    layer = keras.layers.Identity()
    layer.input_spec = spec
    return layer(tensor(keras))


@each("name", PROGRAMS)
def test_programs(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(PROGRAMS[name])


ERRORS = {  # what messages must hold, beside their kind
    "input spec": "expected min_ndim=3, found ndim=2. Full shape received: (4, 3)",
    "input spec, axes": "expected axis -1 of input shape to have value 4, but received input with shape (4, 3)",
    "input spec, shape": "expected shape=(None, 4), found shape=(4, 3)",
    "input spec, number": "expects 2 input(s), but it received 1 input tensors",
    "no super": "you forgot to call `super().__init__()`",
}


@pytest.mark.parametrize("name", ERRORS)
def test_messages(name):
    error = check(PROGRAMS[name])
    assert ERRORS[name] in str(error)


def test_failing_calls_tell_their_arguments():
    def program(keras):
        class Bad(keras.layers.Layer):
            def call(self, x, training=None):
                raise ValueError("nothing works")
        return Bad()(tensor(keras))
    error = check(program)
    assert "Exception encountered when calling Bad.call()." in str(error)
    assert "x=tf.Tensor(shape=(4, 3), dtype=float32)" in str(error)


def test_copies_are_independent():
    from dragon.vm import keras
    layer = _built(keras, outer(keras)())
    twin = copy.deepcopy(layer)
    before = layer.get_weights()
    twin.set_weights([weight * 0 for weight in before])
    for one, other in zip(before, layer.get_weights()):
        np.testing.assert_array_equal(one, other)
    assert not any(np.any(weight) for weight in twin.get_weights())


def test_names_for_other_doors():
    from dragon.vm import keras
    layer = _built(keras, outer(keras)())
    assert list(dict(layer.named_parameters())) == ["inner.scale", "dense.0.kernel", "dense.0.bias", "dense.1.kernel",
                                                    "dense.1.bias"]
    assert list(dict(layer.named_buffers())) == ["inner.steps"]
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(2)])
    assert list(model.state_dict()) == ["dense.kernel", "dense.bias", "dense_1.kernel", "dense_1.bias"]


def test_training_mode_set_as_modules_do():
    from dragon.vm import keras
    layer = _built(keras, scaled(keras)())
    plain = layer(X).numpy()
    layer.train()
    np.testing.assert_allclose(layer(X).numpy(), -plain)
    layer.eval()
    np.testing.assert_allclose(layer(X).numpy(), plain)


@pytest.mark.parametrize("options", [{"mode": "full"}, {"mode": "activations"}, {"mode": "larger_than"},
                                     {"mode": "list_of_layers", "layer_names": ["again"]}], ids=lambda o: o["mode"])
def test_results_computed_again_have_the_same_gradients(options):
    from dragon.vm import keras
    from dragon.vm import tensorflow as tf
    found = []
    for scope in (keras.RematScope(**options), keras.RematScope(mode=None)):
        with scope:
            layer = keras.layers.Dense(3, activation="tanh", name="again", kernel_initializer="ones")
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(layer(x) ** 2)
        found.append([total, *tape.gradient(total, [x, *layer.trainable_weights])])
    for one, other in zip(*found):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="Received: mode=nonsense"):
        keras.RematScope(mode="nonsense")
