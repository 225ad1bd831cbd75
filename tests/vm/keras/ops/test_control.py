"""Functions of keras.ops that call functions, and those that take and give no arrays."""
import importlib

import numpy as np
import pytest

import dragon.vm.keras as keras
from dragon.vm.keras import ops
from harness import genuine
from harness.subresults import each

X = np.arange(12.0, dtype="float32").reshape(4, 3) / 5
PROGRAMS = {
    "cond": lambda o: [o.cond(o.greater(o.sum(X), 1), lambda: o.add(X, 1), lambda: o.multiply(X, 2)),
                       o.cond(False, lambda: X, lambda: -X)],
    "switch": lambda o: [o.switch(i, [lambda x: o.add(x, 1), lambda x: o.multiply(x, 2)], X) for i in (-1, 0, 1, 5)],
    "while_loop": lambda o: o.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x * 2), (0, X)),
    "while_loop once": lambda o: o.while_loop(lambda x: o.sum(x) < 99, lambda x: o.add(x, 1), X, maximum_iterations=2),
    "fori_loop": lambda o: o.fori_loop(1, 4, lambda i, x: o.add(x, o.cast(i, "float32")), X),
    "map": lambda o: [o.map(lambda x: o.square(x), X), o.map(lambda x: x["a"] - x["b"], {"a": X, "b": X * 3})],
    "vectorized_map": lambda o: o.vectorized_map(lambda x: o.cumsum(x), o.convert_to_tensor(X)),
    "scan": lambda o: o.scan(lambda c, x: (o.add(c, x), o.multiply(c, x)), np.zeros(3, "float32"), X),
    "scan back": lambda o: o.scan(lambda c, x: (o.add(c, x), o.multiply(c, x)), np.ones(3, "float32"), X, reverse=True),
    "scan of nothing": lambda o: o.scan(lambda c, x: (o.add(c, 1.0), c), np.float32(0), length=5),
    "associative_scan": lambda o: [
        o.associative_scan(lambda a, b: a + b, o.convert_to_tensor(X), axis=axis, reverse=back)
        for axis in (0, 1) for back in (False, True)],
    "associative_scan of pairs": lambda o: o.associative_scan(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (o.convert_to_tensor(X), o.convert_to_tensor(X + 1))),
    "adaptive pools": lambda o: [getattr(o, f"adaptive_{kind}_pool")(o.convert_to_tensor(np.stack([X, X + 1])), 2)
                                 for kind in ("average", "max")],
    "jvp": lambda o: o.jvp(lambda x: o.sum(x ** 3, axis=0), (o.convert_to_tensor(X),), (o.convert_to_tensor(X + 1),)),
    "eig": lambda o: [o.sort(o.real(o.eig(o.convert_to_tensor(X[:3] + np.eye(3, dtype="float32")))[0]))],
}


def leaves(value):
    value = list(value.values()) if isinstance(value, dict) else value
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


@each("name", PROGRAMS)
def test_programs(name):
    found, wanted = leaves(PROGRAMS[name](ops)), leaves(PROGRAMS[name](genuine.keras.ops))
    assert len(found) == len(wanted)
    for own, other in zip(found, wanted):
        own, other = np.asarray(own), np.asarray(other)
        assert own.dtype == other.dtype
        np.testing.assert_allclose(own, other, 1e-5, 1e-5)


def test_vectorize():
    """Genuine Keras has no `vectorize` with TensorFlow: NumPy is the oracle."""
    np.testing.assert_allclose(ops.vectorize(lambda x, y: x + 2 * y)(X, X[0]), X + 2 * X[0])
    rows = ops.vectorize(lambda x, y: ops.sum(x * y), signature="(n),(n)->()")(X, X[1])
    np.testing.assert_allclose(rows, (X * X[1]).sum(-1), 1e-6)


def test_kinds():
    assert ops.is_tensor(ops.ones(2)) and not ops.is_tensor(X)
    assert ops.dtype(ops.ones(2)) == "float32"
    assert ops.shape(keras.KerasTensor((None, 3))) == (None, 3)


def classes_of(module):
    """Return the names that functions have in graphs: (module, class), by how they are called."""
    x, y = module.KerasTensor((2, 3)), module.KerasTensor((3, 3))
    image = module.KerasTensor((2, 8, 8, 3))
    o = module.ops
    calls = {
        "add": o.add(x, 1), "reshape": o.reshape(x, (3, 2)), "sum": o.sum(x, axis=1), "matmul": o.matmul(x, y),
        "softmax": o.softmax(x), "silu": o.silu(x), "where": o.where(x, x, 0.0), "concatenate": o.concatenate([x, y]),
        "expand_dims": o.expand_dims(x, -1), "cast": o.cast(x, "int32"), "clip": o.clip(x, 0, 1),
        "take": o.take(x, 0, 1), "transpose": o.transpose(x),
        "einsum": o.einsum("ij,jk->ik", x, y), "mean": o.mean(x), "getitem": x[:, 0],
        "norm": o.norm(x), "resize": o.image.resize(image, (4, 4)),
        "batch": o.batch_normalization(x, X[0], X[0], -1),
        "layer": o.layer_normalization(x), "isin": o.isin(x, y), "fft": o.rfft(x)[0], "segment": o.logsumexp(x),
        "max_pool": o.max_pool(image, 2), "one_hot": o.one_hot(x, 3), "stop": o.stop_gradient(x), "pad": o.pad(x, 1),
        "slice": o.slice(x, (0, 0), (1, 1)), "unstack": o.unstack(x)[0], "hsv": o.image.rgb_to_hsv(image),
        "patches": o.image.extract_patches(image, 2), "absolute": o.absolute(x), "abs": o.abs(x),
        "split": o.split(x, 3, 1)[0],
    }
    return {name: (type(made._keras_history.operation).__module__, type(made._keras_history.operation).__name__)
            for name, made in calls.items()}


def test_names_in_graphs():
    assert classes_of(keras) == classes_of(genuine.keras)


def build(module):
    """Return a functional model made of functions."""
    x = module.Input((4,))
    y = module.ops.reshape(module.ops.add(x, 1.0), (-1, 2, 2))
    y = module.ops.sum(module.ops.transpose(y, (0, 2, 1)), axis=-1, keepdims=True)
    y = module.ops.concatenate([y, module.ops.expand_dims(module.ops.clip(x, 0.0, 1.0)[:, :2], -1)], axis=1)
    return module.Model(x, module.ops.softmax(module.ops.einsum("bij,bkj->bik", y, y)))


def test_models_of_functions_travel_both_ways():
    """Functional models made of functions are read by either side from the other's configuration."""
    x = X[:, :1] + np.arange(4, dtype="float32") / 3
    here, there = build(keras), build(genuine.keras)
    wanted = np.asarray(there(x))
    np.testing.assert_allclose(here(x).numpy(), wanted, 1e-6)
    read_here = keras.models.model_from_json(there.to_json())
    read_there = genuine.keras.models.model_from_json(here.to_json())
    np.testing.assert_allclose(read_here(x).numpy(), wanted, 1e-6)
    np.testing.assert_allclose(np.asarray(read_there(x)), wanted, 1e-6)


@each("call", [
    lambda: ops.transpose(X, (0, 0)),
    lambda: ops.squeeze(X, 0),
    lambda: ops.split(X, 5),
    lambda: ops.max(np.zeros((0, 2))),
    lambda: ops.conv(np.zeros((2, 5, 5, 3), "float32"), np.zeros((3, 3, 4, 2), "float32")),
    lambda: ops.diag(np.zeros((2, 2, 2))),
    lambda: ops.sparse_categorical_crossentropy(X[:3, 0], X),
    lambda: ops.moveaxis(X, (0, 1), 0),
    lambda: ops.where(X, X),
    lambda: ops.binary_crossentropy(X, X[:2]),
    lambda: ops.image.resize(X, (3, 3)),
    lambda: ops.linspace(0, 1, -2),
    lambda: ops.image.resize(np.zeros((4, 4, 3)), (3, 3), "cubic"),
    lambda: ops.scatter_update(X, [[0]], X[:1], reduction="no"),
    lambda: ops.normalize(X, order=0),
    lambda: ops.linalg.det(X),
    lambda: ops.quantile(X, 0.5, method="no"),
    lambda: ops.glu(X),
    lambda: ops.ctc_decode(np.zeros((2, 3, 4), "float32"), [3, 3], "no"),
    lambda: ops.dot_product_attention(X, X, X),
    lambda: ops.max_pool(np.zeros((2, 5, 5, 3), "float32"), 2, padding="no"),
    lambda: ops.stft(X, 8, 4, 4),
    lambda: ops.lcm(X, X),
])
def test_errors_tell_what_was_received(call):
    with pytest.raises((ValueError, TypeError), match="(?i)received"):
        call()


def test_classes_whose_configuration_comes_first():
    rooms = importlib.import_module("dragon.vm.keras.src.ops.core")
    loop = rooms.WhileLoop(lambda i: i < 4, lambda i: i + 1, maximum_iterations=3)
    assert int(loop(np.array(0))) == 3
    assert int(rooms.ForiLoop(0, 10, lambda i, x: x + i)(np.array(0))) == 45
    einsum = importlib.import_module("dragon.vm.keras.src.ops.numpy").Einsum("ij,jk->ik")
    np.testing.assert_array_equal(np.asarray(einsum(np.ones((2, 3)), np.ones((3, 4)))), np.full((2, 4), 3))


def test_loops_of_symbols_are_of_the_kind_of_their_beginning():
    made = ops.fori_loop(0, 10, lambda i, x: x + ops.cast(i, "float32"), keras.KerasTensor((3, None)))
    assert made.shape == (3, None)
    first, second = ops.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x),
                                   (keras.KerasTensor((), dtype="int32"), keras.KerasTensor((2, 3))))
    assert (first.dtype, second.shape) == ("int32", (2, 3))


@pytest.mark.parametrize("other", [lambda: ops.zeros((4,)), lambda: ops.zeros((3,), dtype="int32"), lambda: None,
                                   lambda: [ops.zeros((3,))]])
def test_branches_of_a_symbol_are_alike(other):
    pred = keras.KerasTensor((), dtype="bool")
    assert ops.cond(pred, lambda: ops.ones((3,)), lambda: ops.zeros((3,))).shape == (3,)
    with pytest.raises(ValueError, match="same shapes and dtypes"):
        ops.cond(pred, lambda: ops.ones((3,)), other)
    x = keras.KerasTensor((3, 2))
    assert ops.cond(pred, lambda: x, lambda: x + 1).shape == (3, 2)
    with pytest.raises(ValueError, match="same shapes and dtypes"):
        ops.cond(pred, lambda: x, lambda: ops.sum(x))
