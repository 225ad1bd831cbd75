"""Functional and Sequential models, and subclasses: structure, names, numbers, errors, as in genuine Keras."""
import copy
import json
import pickle

import numpy as np
import pytest
from harness.keras_programs import check, weights_of
from harness.subresults import each

X = np.linspace(-1, 1, 20).reshape(4, 5).astype("float32")
Y = np.linspace(0, 1, 12).reshape(4, 3).astype("float32")


def describe(model):
    """Return what can be told of a model without numbers."""
    return {
        "name": model.name, "layers": [layer.name for layer in model.layers],
        "classes": [type(layer).__name__ for layer in model.layers],
        "weights": [weight.path for weight in model.weights],
        "trainable": [weight.path for weight in model.trainable_weights],
        "shapes": [tuple(weight.shape) for weight in model.weights],
        "count": model.count_params(), "built": model.built,
    }


def mlp(keras):
    """Return a list of layers."""
    return keras.Sequential([keras.Input((5,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(3)])


def branches(keras):
    """Return a graph with two inputs, two outputs, and operations in it."""
    a, b = keras.Input((5,), name="a"), keras.Input((3,), name="b")
    hidden = keras.layers.Dense(3, activation="tanh")(a)
    joined = keras.layers.Concatenate()([hidden, b])
    product = keras.ops.multiply(hidden, b) * 2.0 + 1
    return keras.Model([a, b], [keras.layers.Dense(2, name="left")(joined), keras.ops.sum(product, axis=-1)])


def shared(keras):
    """Return a graph that calls one layer twice."""
    layer = keras.layers.Dense(5, name="twice")
    x = keras.Input((5,))
    return keras.Model(x, layer(keras.ops.relu(layer(x))))


def nested(keras):
    """Return a graph with a list of layers and a graph in it."""
    x = keras.Input((5,))
    return keras.Model(x, branches(keras)([x, mlp(keras)(x)])[0])


def named(keras):
    """Return a graph whose inputs and outputs are dicts."""
    a, b = keras.Input((5,), name="a"), keras.Input((3,), name="b")
    return keras.Model({"a": a, "b": b}, {"sum": keras.layers.Dense(3)(a) + b, "b": keras.layers.Dense(1)(b)})


def subscripts(keras):
    """Return a graph with indices, arithmetic, and functions of several tensors."""
    x = keras.Input((5,))
    y = x[:, 1:4] / 2 - x[:, :3] ** 2
    z = keras.ops.concatenate([y, -y, keras.ops.mean(x, axis=1, keepdims=True)], axis=-1)
    return keras.Model(x, [keras.ops.reshape(z, (-1, 7)), keras.ops.expand_dims(z, 1), z @ keras.ops.transpose(z)])


def within(keras):
    """Return a graph that begins within another one."""
    whole = mlp(keras)
    return keras.Model(whole.layers[0].output, whole.outputs[0])


MODELS = {"mlp": (mlp, X), "branches": (branches, [X, Y]), "shared": (shared, X), "nested": (nested, X),
          "named": (named, {"a": X, "b": Y}), "subscripts": (subscripts, X), "within": (within, X[:, :4])}


@pytest.mark.parametrize("name", MODELS)
def test_structure_and_numbers(name):
    make, data = MODELS[name]

    def program(keras):
        model = weights_of(make(keras))
        tensors = keras.tree.map_structure(keras.ops.convert_to_tensor, data)
        return [describe(model), model(tensors), model.compute_output_shape(
            keras.tree.map_structure(lambda x: (None, *x.shape[1:]), data)), model.input_shape, model.output_shape]
    check(program)


@pytest.mark.parametrize("name", MODELS)
def test_json_round_trip(name):
    make, data = MODELS[name]

    def program(keras):
        model = weights_of(make(keras))
        text = model.to_json()
        again = keras.models.model_from_json(text)
        again.set_weights(model.get_weights())
        return [json.loads(text), again.to_json() == text, again(keras.tree.map_structure(
            keras.ops.convert_to_tensor, data))]
    check(program)


@pytest.mark.parametrize("name", MODELS)
def test_json_of_the_genuine_one_is_read(name):
    from dragon.vm import keras
    from harness import genuine
    text = MODELS[name][0](genuine.keras).to_json()
    assert json.loads(keras.models.model_from_json(text).to_json()) == json.loads(text)
    mine = MODELS[name][0](keras).to_json()
    assert json.loads(genuine.keras.models.model_from_json(mine).to_json()) == json.loads(mine)


@pytest.mark.parametrize("name", MODELS)
def test_clones(name):
    make, data = MODELS[name]

    def program(keras):
        model = make(keras)
        cloned = weights_of(keras.models.clone_model(model))
        return [describe(cloned), cloned(keras.tree.map_structure(keras.ops.convert_to_tensor, data))]
    check(program)


def subclass(keras):
    """Return a subclass with layers in a list, in a dict, and as attributes."""
    class Net(keras.Model):
        def __init__(self, width=4, **kwargs):
            super().__init__(**kwargs)
            self.first = keras.layers.Dense(width)
            self.blocks = [keras.layers.Dense(3), keras.layers.Dense(2)]
            self.heads = {"b": keras.layers.Dense(1), "a": keras.layers.Dense(1)}
            self.drop = keras.layers.Dropout(0.5)

        def call(self, x, training=False):
            x = self.drop(keras.ops.relu(self.first(x)), training=training)
            for block in self.blocks:
                x = block(x)
            return {name: head(x) for name, head in self.heads.items()}
    return Net()


PROGRAMS = {
    "subclass": lambda keras: (net := subclass(keras), net(keras.ops.convert_to_tensor(X)), weights_of(net))[2:] and [
        describe(net), net(keras.ops.convert_to_tensor(X)), net.get_config()],
    "subclass built by a shape": lambda keras: (net := subclass(keras), net.build((None, 5))) and [
        describe(net), net.compute_output_shape((2, 5))],
    "subclass as a graph": lambda keras: describe(type("Mine", (keras.Model,), {})(
        inputs=(x := keras.Input((5,))), outputs=keras.layers.Dense(2)(x))),
    "later input": lambda keras: (m := keras.Sequential([keras.layers.Dense(2)]), [m.built, len(m.weights)],
                                  m.build((3, 5)))[1] + [describe(m), m.inputs[0].shape],
    "input_shape": lambda keras: describe(keras.Sequential([keras.layers.Dense(2, input_shape=(7,))])),
    "input_dim": lambda keras: describe(keras.Sequential([keras.layers.Dense(2, input_dim=7)])),
    "pop": lambda keras: (m := mlp(keras), m.pop()) and describe(m),
    "add": lambda keras: (m := mlp(keras), m.add(keras.layers.Dense(9))) and [describe(m), m.output_shape],
    "get_layer": lambda keras: [mlp(keras).get_layer(index=0).name, branches(keras).get_layer("left").name],
    "frozen": lambda keras: (m := nested(keras), setattr(m.layers[1], "trainable", False)) and describe(m),
    "all frozen": lambda keras: (m := nested(keras), setattr(m, "trainable", False)) and [
        describe(m), [len(m.trainable_variables), len(m.non_trainable_variables)]],
    "extra axis": lambda keras: weights_of(mlp(keras))(X[:, :, None]),
    "dict for a list": lambda keras: [x.shape for x in branches(keras)({"a": X, "b": Y})],
    "static batch": lambda keras: keras.Sequential([
        keras.Input(batch_shape=(2, 5)), keras.layers.Dense(3)]).output_shape,
    "dtype of inputs": lambda keras: str(keras.Sequential([keras.Input((5,), dtype="int32"), keras.layers.Dense(3)])(
        X.astype("int64")).dtype),
    "input layer": lambda keras: keras.layers.InputLayer(shape=(3,), dtype="int32").get_config(),
    "input tensor": lambda keras: [(x := keras.Input((3,), batch_size=2, name="q")).shape, x.name, x.dtype, x.ndim],
    "intermediate": lambda keras: (m := mlp(keras)) and describe(keras.Model(m.inputs, m.get_layer("dense").output)),
    "two batches": lambda keras: [m(X).shape for m in [mlp(keras)]] + [m(X[:1]).shape for m in [mlp(keras)]],
    "stateless": lambda keras: (m := weights_of(mlp(keras))) and m.stateless_call(
        [keras.ops.ones(v.shape) for v in m.trainable_variables], [], keras.ops.convert_to_tensor(X))[0],
    "function": lambda keras: keras.Function(x := keras.Input((5,)), keras.ops.relu(x) + 1)(
        keras.ops.convert_to_tensor(X)),
}


@each("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name])


ERRORS = {
    "axes": lambda keras: mlp(keras)(X[:, :3]),
    "get_layer": lambda keras: mlp(keras).get_layer("nothing"),
    "both": lambda keras: mlp(keras).get_layer("nothing", 3),
    "index": lambda keras: mlp(keras).get_layer(index=7),
    "no layer": lambda keras: keras.Sequential([3]),
    "same name": lambda keras: keras.Sequential([keras.layers.Dense(1, name="a"), keras.layers.Dense(1, name="a")]),
    "disconnected": lambda keras: keras.Model(keras.Input((3,)), keras.layers.Dense(2)(keras.Input((3,)))),
    "no tensors": lambda keras: keras.Model(3, keras.Input((3,))),
    "slash": lambda keras: keras.layers.Dense(3, name="a/b"),
    "unknown argument": lambda keras: keras.layers.Dense(3, nonsense=1),
    "trainable": lambda keras: keras.layers.Dense(3, trainable="yes"),
    "weights": lambda keras: mlp(keras).set_weights([X]),
    "weight shapes": lambda keras: mlp(keras).set_weights([X, X, X, X]),
    "not built": lambda keras: keras.layers.Dense(3).count_params(),
    "layers": lambda keras: setattr(mlp(keras), "layers", []),
    "no numbers": lambda keras: float(keras.Input((3,))),
    "no truth": lambda keras: bool(keras.Input((3,))),
    "iteration": lambda keras: list(keras.Input((3,))),
    "input": lambda keras: keras.Input(),
    "input twice": lambda keras: keras.Input((3,), batch_shape=(2, 3)),
    "second input": lambda keras: mlp(keras).add(keras.Input((3,))),
    "too few inputs": lambda keras: branches(keras)([X]),
    "unknown class": lambda keras: keras.models.model_from_json(
        '{"module": "keras.layers", "class_name": "Nonsense", "config": {}, "registered_name": null}'),
    "lambda": lambda keras: keras.saving.deserialize_keras_object(
        {"class_name": "__lambda__", "config": {"value": "x"}}),
}


@each("name", ERRORS)
def test_errors(name):
    error = check(ERRORS[name])
    assert isinstance(error, Exception)


@pytest.mark.parametrize("name", MODELS)
def test_pickles_and_copies(name):
    from dragon.vm import keras
    make, data = MODELS[name]
    model = weights_of(make(keras))
    expected = [x.numpy() for x in keras.tree.flatten(model(data))]
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        for weight in twin.weights:
            assert all(weight is not own for own in model.weights)
        for one, other in zip(keras.tree.flatten(twin(data)), expected):
            np.testing.assert_allclose(one.numpy(), other)


def test_layers_are_pickled():
    from dragon.vm import keras
    layer = keras.layers.Dense(3)
    layer(X)
    twin = pickle.loads(pickle.dumps(layer))
    np.testing.assert_allclose(twin(X).numpy(), layer(X).numpy())
    assert len(twin.weights) == 2


def sequences(keras):
    """Return a model whose layers hand on a mask."""
    layers = keras.layers
    x = keras.Input((None,), dtype="int32")
    hidden = layers.LSTM(4, return_sequences=True)(layers.Embedding(7, 3, mask_zero=True)(x))
    hidden = layers.Dropout(0.5)(layers.TimeDistributed(layers.Dense(3))(hidden))
    return keras.Model(x, [layers.GRU(2)(hidden), layers.GlobalAveragePooling1D()(hidden), hidden])


def test_masks_go_through_models():
    def program(keras):
        model = weights_of(sequences(keras))
        padded = model(keras.ops.convert_to_tensor(np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]])))
        return [model.output_shape, list(padded), model.predict(np.array([[6, 1, 0]]), verbose=0)]
    check(program)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_global_policies(policy):
    def program(keras):
        keras.config.set_dtype_policy(policy)
        try:
            model = weights_of(mlp(keras))
            y = model(keras.ops.convert_to_tensor(X))
            return [keras.backend.standardize_dtype(y.dtype), [str(w.dtype) for w in model.weights],
                    model.compute_dtype,
                    keras.ops.cast(y, "float32") * 0, [layer.dtype_policy.name for layer in model.layers]]
        finally:
            keras.config.set_dtype_policy("float32")
    check(program)
