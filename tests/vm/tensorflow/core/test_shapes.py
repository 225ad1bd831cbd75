"""Shapes come as tuples, lists, `TensorShape`s, tensors, arrays, and lists with tensors in them."""
import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

KINDS = {
    "tuple": lambda tf: (2, 3),
    "list": lambda tf: [2, 3],
    "TensorShape": lambda tf: tf.TensorShape([2, 3]),
    "shape of a tensor": lambda tf: tf.zeros((2, 3)).shape,
    "tf.shape": lambda tf: tf.shape(tf.zeros((2, 3))),
    "int64 tensor": lambda tf: tf.constant([2, 3], "int64"),
    "variable": lambda tf: tf.Variable([2, 3]),
    "array": lambda tf: np.array([2, 3]),
    "NumPy's integers": lambda tf: [np.int64(2), np.int32(3)],
    "a tensor in a list": lambda tf: [tf.shape(tf.zeros((2, 3)))[0], 3],
}
WRONG = {
    "unknown rank": lambda tf: tf.TensorShape(None),
    "unknown size": lambda tf: tf.TensorShape([None, 3]),
    "None": lambda tf: [2, None],
    "a fraction": lambda tf: [2.5, 3],
    "text": lambda tf: "ab",
    "negative": lambda tf: [-7, 3],
    "a fraction in a tensor": lambda tf: tf.constant([2.5, 3.0]),
    "beyond any memory": lambda tf: [2**40, 2**40],
}
X = np.arange(6, dtype="float32")
FUNCTIONS = {
    "zeros": lambda tf, shape: tf.zeros(shape),
    "ones": lambda tf, shape: tf.ones(shape, "int32"),
    "strings": lambda tf, shape: tf.zeros(shape, "string"),
    "fill": lambda tf, shape: tf.fill(shape, 2.0),
    "eye": lambda tf, shape: tf.eye(2, batch_shape=shape),
    "reshape": lambda tf, shape: tf.reshape(X, shape),
    "broadcast_to": lambda tf, shape: tf.broadcast_to(X[:3], shape),
    "scatter_nd": lambda tf, shape: tf.scatter_nd(tf.constant([[0, 1]]), tf.constant([2.0]), shape),
    "constant": lambda tf, shape: tf.constant(1.0, shape=shape),
    "slice": lambda tf, shape: tf.slice(tf.zeros((4, 4)), (1, 1), shape),
    "tile": lambda tf, shape: tf.tile(tf.ones((1, 1)), shape),
    "sparse.reshape": lambda tf, shape: tf.sparse.to_dense(tf.sparse.reshape(tf.sparse.from_dense(X), shape)),
    "zeros_initializer": lambda tf, shape: tf.zeros_initializer()(shape),
    "constant_initializer": lambda tf, shape: tf.constant_initializer(2.0)(shape),
    "random_normal_initializer": lambda tf, shape: tf.random_normal_initializer(seed=1)(shape),
    **{f"random.{name}": lambda tf, shape, name=name: getattr(tf.random, name)(shape, seed=3) for name in (
        "normal truncated_normal uniform".split())},
    "random.gamma": lambda tf, shape: tf.random.gamma(shape, [1.0, 2.0], seed=3),
    "random.poisson": lambda tf, shape: tf.random.poisson(shape, [1.0, 2.0], seed=3),
    **{f"random.stateless_{name}": lambda tf, shape, name=name: getattr(tf.random, f"stateless_{name}")(shape, (1, 2))
       for name in ("normal truncated_normal uniform".split())},
    "random.stateless_gamma": lambda tf, shape: tf.random.stateless_gamma(shape, (1, 2), 2.0),
    "random.stateless_binomial": lambda tf, shape: tf.random.stateless_binomial(shape, (1, 2), 5.0, 0.5),
    **{f"Generator.{name}": lambda tf, shape, name=name: getattr(tf.random.Generator.from_seed(1), name)(shape)
       for name in ("normal truncated_normal uniform".split())},
    **{f"initializers.{name}": lambda tf, shape, name=name: getattr(tf.keras.initializers, name)()(shape)
       for name in ("Zeros Ones GlorotUniform HeNormal RandomUniform RandomNormal TruncatedNormal Orthogonal "
                    "Identity").split()},
    **{f"keras.ops.{name}": lambda tf, shape, name=name: getattr(tf.keras.ops, name)(shape)
       for name in ("zeros", "ones", "empty")},
    "keras.ops.full": lambda tf, shape: tf.keras.ops.full(shape, 2.0),
    "keras.ops.reshape": lambda tf, shape: tf.keras.ops.reshape(X, shape),
    "keras.ops.broadcast_to": lambda tf, shape: tf.keras.ops.broadcast_to(X[:3], shape),
    "keras.ops.slice": lambda tf, shape: tf.keras.ops.slice(np.zeros((4, 4)), (1, 1), shape),
    **{f"keras.random.{name}": lambda tf, shape, name=name: getattr(tf.keras.random, name)(shape, seed=1)
       for name in ("normal uniform truncated_normal".split())},
    "keras.random.randint": lambda tf, shape: tf.keras.random.randint(shape, 0, 9, seed=1),
    "keras.random.gamma": lambda tf, shape: tf.keras.random.gamma(shape, 1.0, seed=1),
    "keras.random.beta": lambda tf, shape: tf.keras.random.beta(shape, 1.0, 2.0, seed=1),
    "keras.random.binomial": lambda tf, shape: tf.keras.random.binomial(shape, 5.0, 0.5, seed=1),
}
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, MemoryError)


def attempt(tf, name, shape):
    """Return the shape and dtype of a result, or None where the call is refused."""
    try:
        found = FUNCTIONS[name](tf, shape(tf))
    except (*REFUSALS, AttributeError, tf.errors.OpError):
        return None
    return tuple(found.shape), found.dtype


@each("name", FUNCTIONS)
def test_kinds_of_shapes(name):
    compared = 0
    for kind, shape in KINDS.items():
        wanted = attempt(genuine.tf, name, shape)
        if wanted is not None:
            found = FUNCTIONS[name](mine, shape(mine))
            assert (tuple(found.shape), found.dtype.name) == (wanted[0], wanted[1].name), kind
            compared += 1
    assert compared >= 3


@each("kind", WRONG)
@each("name", FUNCTIONS)
def test_no_shapes(name, kind):
    with pytest.raises((*REFUSALS, mine.errors.OpError)):
        FUNCTIONS[name](mine, WRONG[kind](mine))
