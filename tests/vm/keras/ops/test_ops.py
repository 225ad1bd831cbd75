"""Every function of keras.ops beside genuine Keras: values, gradients, and what is inferred of symbolic tensors."""
import inspect

import numpy as np
import pytest

import dragon.vm.keras as keras
from dragon import _C
from dragon.vm.keras import ops
from harness import answers, genuine
from harness.keras_ops import find, nn_rows, numpy_rows
from harness.subresults import each

ROWS = numpy_rows.ROWS + nn_rows.ROWS
LEFT_OUT = {"adaptive_average_pool", "adaptive_max_pool", "associative_scan", "cond", "custom_gradient", "dtype",
            "fori_loop", "is_tensor", "jvp", "map", "scan", "switch", "vectorize", "vectorized_map", "while_loop",
            "eig"}  # in test_control.py


def leaves(value):
    """Return what a nested result holds."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def to_numpy(x):
    """Return a result as an array."""
    return np.asarray(x.detach().numpy() if isinstance(x, _C.Tensor) else x)


def assert_alike(found, wanted, within):
    found, wanted = leaves(found), leaves(wanted)
    assert len(found) == len(wanted)
    for own, other in zip(map(to_numpy, found), map(np.asarray, wanted)):
        assert own.shape == other.shape
        assert own.dtype == other.dtype
        np.testing.assert_allclose(own, other, within, within)


def asked(what, row, compute):
    """Return what genuine Keras answers to a row, an error of its as it is."""
    def answer():
        try:
            return compute(row)
        except Exception as error:  # whatever genuine Keras raises is its answer
            return error
    return answers.ask("keras", [what, row.name, row.args, row.kwargs], answer, title=f"{what} of {row}")


def values_there(row):
    return [np.asarray(leaf) for leaf in leaves(find(genuine.keras.ops, row.name)(*row.args, **row.kwargs))]


@each("row", ROWS, ids=repr)
def test_values(row):
    found = find(ops, row.name)(*row.args, **row.kwargs)
    assert_alike(found, asked("values", row, values_there), row.within)


def is_floating(x):
    return isinstance(x, np.ndarray) and x.dtype == np.float32


def change(value, function):
    """Return arguments with arrays replaced."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, np.ndarray) for item in value):
        return type(value)(function(item) if isinstance(item, np.ndarray) else item for item in value)
    return function(value) if isinstance(value, np.ndarray) else value


def weighed(results):
    """Return floating results, each with weights for its sum."""
    found = []
    for result in leaves(results):
        if "float" in str(getattr(result, "dtype", "")):
            size = int(np.prod(tuple(result.shape)))
            found.append((result, np.sin(np.arange(size)).reshape(tuple(result.shape)).astype("float32") + 0.1))
    return found


def gradients_here(row):
    xs = []

    def watch(x):
        x = ops.convert_to_tensor(np.array(x))
        if x.dtype.name == "float32":
            x.requires_grad = True
            xs.append(x)
        return x
    before = _C.set_grad_enabled(True)
    try:
        args = [change(value, watch) for value in row.args]
        kwargs = {name: change(value, watch) for name, value in row.kwargs.items()}
        pairs = weighed(find(ops, row.name)(*args, **kwargs))
        ys, dys = [pair[0] for pair in pairs], [ops.convert_to_tensor(pair[1]) for pair in pairs]
        return [None if g is None else to_numpy(g) for g in _C.grad(ys, xs, dys, False, False, True)]
    finally:
        _C.set_grad_enabled(before)


def gradients_there(row):
    tf, xs = genuine.tf, []
    with tf.GradientTape() as tape:
        def watch(x):
            x = tf.convert_to_tensor(x)
            if x.dtype == tf.float32:
                tape.watch(x)
                xs.append(x)
            return x
        args = [change(value, watch) for value in row.args]
        kwargs = {name: change(value, watch) for name, value in row.kwargs.items()}
        pairs = weighed(find(genuine.keras.ops, row.name)(*args, **kwargs))
        total = tf.add_n([tf.reduce_sum(y * w) for y, w in pairs]) if pairs else None
    if total is None:
        return [None] * len(xs)
    return [None if g is None else np.asarray(tf.convert_to_tensor(g)) for g in tape.gradient(total, xs)]


def has_gradient(row):
    arrays = leaves([*row.args, *row.kwargs.values()])
    return row.gradient and any(map(is_floating, arrays))


@each("row", [row for row in ROWS if has_gradient(row)], ids=repr)
def test_gradients(row):
    wanted = asked("gradients", row, gradients_there)
    if isinstance(wanted, answers.Raised):
        pytest.skip(f"genuine gradient fails: {wanted.name}")
    if all(gradient is None for gradient in wanted):
        return
    for own, other in zip(gradients_here(row), wanted):
        if other is not None and own is not None:
            np.testing.assert_allclose(own, other, 10 * row.within, 10 * row.within)
        elif other is not None or own is not None:
            assert np.all((other if own is None else own) == 0)


def to_symbolic(row, make):
    """Return arguments with symbolic tensors in the place of arrays; axes like the first one's first are not known."""
    count = []

    def symbol(x):
        count.append(x)
        is_open = x.ndim > 1 and x.shape[0] == count[0].shape[0] and x.ndim >= count[0].ndim - 1
        return make(shape=(None, *x.shape[1:]) if is_open else x.shape, dtype=str(x.dtype))
    args = [change(value, symbol) for value in row.args]
    return args, {name: change(value, symbol) for name, value in row.kwargs.items()}, bool(count)


def shapes_there(row):
    args, kwargs, _ = to_symbolic(row, genuine.keras.KerasTensor)
    return [tuple(leaf.shape) for leaf in leaves(find(genuine.keras.ops, row.name)(*args, **kwargs))]


@each("row", [row for row in ROWS if row.symbolic], ids=repr)
def test_symbolic(row):
    args, kwargs, any_symbols = to_symbolic(row, keras.KerasTensor)
    if not any_symbols:
        return
    wanted = asked("shapes", row, shapes_there)
    if isinstance(wanted, answers.Raised):
        pytest.skip(f"genuine inference fails: {wanted.name}")
    found = leaves(find(ops, row.name)(*args, **kwargs))
    assert len(found) == len(wanted)
    real = leaves(find(ops, row.name)(*row.args, **row.kwargs))
    for own, other, number in zip(found, wanted, real):
        assert len(own.shape) == len(other)
        # Sizes may be known here that genuine inference leaves open, and never the other way round.
        assert all(wish is None or size == wish for size, wish in zip(own.shape, other))
        assert own.dtype == number.dtype.name


def test_names():
    names, images = answers.ask("keras", ["names of keras.ops"], lambda: [
        sorted(name for name in dir(module) if name[0] != "_")
        for module in (genuine.keras.ops, genuine.keras.ops.image)])
    names = set(names)
    assert sorted(name for name in names if not hasattr(ops, name)) == []
    assert sorted(name for name in images if not hasattr(ops.image, name)) == []
    tried = {row.name.split(".")[-1] for row in ROWS}
    modules = {"image", "linalg", "nn", "numpy"}
    assert sorted(names - tried - LEFT_OUT - modules) == []


def signature_of(function):
    return [(p.name, "needed" if p.default is p.empty else repr(p.default))
            for p in inspect.signature(function).parameters.values()]


def test_signatures():
    functions = answers.ask("keras", ["signatures of keras.ops"], lambda: {
        name: signature_of(function) for name, function in vars(genuine.keras.ops).items()
        if name[0] != "_" and callable(function)})
    assert len(functions) > 250
    for name, other in functions.items():
        assert signature_of(getattr(ops, name)) == other, name
