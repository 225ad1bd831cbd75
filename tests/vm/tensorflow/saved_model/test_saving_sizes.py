"""Saved functions of sizes that are not known, which meet others that are: here and in genuine TensorFlow."""
import numpy as np
import pytest
from harness import genuine

from dragon.vm import tensorflow as tf


def ones(*shape):
    """Return a float32 array of ones."""
    return np.ones(shape, "float32")


def spec(*shape, dtype="float32"):
    """Return a spec."""
    return tf.TensorSpec(shape, dtype)


# A variable's shape, a function of it and of arguments, their specs, and shapes of arguments that it is called with.
CASES = {
    "sum": ((2,), lambda v, x: x + v, [spec(None)], [[(2,)], [(1,)]]),
    "product": ((3, 2), lambda v, x: tf.matmul(x, v), [spec(None, None)], [[(1, 3)], [(4, 3)]]),
    "pair": ((1,), lambda v, x, y: tf.matmul(x, y) + v, [spec(None, None), spec(None, 4)],
             [[(1, 3), (3, 4)], [(4, 2), (2, 4)]]),
    "joined": ((6, 2), lambda v, x, y: tf.matmul(tf.concat([x, y], 1), v), [spec(None, None), spec(None, 4)],
               [[(1, 2), (1, 4)], [(5, 2), (5, 4)]]),
    "pieces": ((1,), lambda v, x: tf.split(x * v, 2), [spec(None)], [[(4,)], [(6,)]]),
    "images": ((784, 2), lambda v, x: tf.matmul(tf.reshape(x, [-1, 784]), v), [spec(None, None, None, None)],
               [[(5, 28, 28, 1)], [(2, 784, 1, 1)], [(3, 14, 14, 4)]]),
    "columns for one": ((9,), lambda v, x: tf.concat([x[:, :-1], tf.one_hot(tf.cast(x[:, -1], "int32"), 3)], 1) - v,
                        [spec(None, None)], [[(4, 7)], [(1, 7)]]),
    "two of one": ((1,), lambda v, x, y: x * y + v, [spec(None, None), spec(None, None)],
                   [[(2, 3), (2, 3)], [(1, 5), (1, 5)]]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:onnx.export. the model holds")
def test_sizes(name, tmp_path):
    """A function is saved whatever of its sizes stands for which, and called at several."""
    shape, function, specs, calls = CASES[name]
    module = tf.Module()
    module.v = tf.Variable(ones(*shape))
    module.f = tf.function(lambda *args: function(module.v, *args), input_signature=specs)
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for shapes in calls:
        args = [ones(*one) for one in shapes]
        for one, other in zip(tf.nest.flatten(loaded.f(*args)), tf.nest.flatten(module.f(*args)), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:onnx.export. the model holds")
def test_genuine_reads_them(name, tmp_path):
    """Genuine TensorFlow computes the same of the files."""
    shape, function, specs, calls = CASES[name]
    theirs = genuine.tf
    module = tf.Module()
    module.v = tf.Variable(ones(*shape))
    module.f = tf.function(lambda *args: function(module.v, *args), input_signature=specs)
    tf.saved_model.save(module, tmp_path)
    loaded = theirs.saved_model.load(str(tmp_path))
    for shapes in calls:
        args = [ones(*one) for one in shapes]
        given = [theirs.constant(one) for one in args]
        for one, other in zip(theirs.nest.flatten(loaded.f(*given)), tf.nest.flatten(module.f(*args)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_no_size_will_do(tmp_path):
    """What no sizes suit says why."""
    module = tf.Module()
    module.f = tf.function(lambda x: x[:, :2] @ tf.ones([3, 4]), input_signature=[spec(None, None)])
    with pytest.raises(Exception, match=r"\b2\b.*\b3\b|\b3\b.*\b2\b"):
        tf.saved_model.save(module, tmp_path)
