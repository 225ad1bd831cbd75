"""Going through things comes to an end: what has subscripts says itself what it holds, or that it holds nothing."""
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import dragon.vm
import dragon.vm.keras as keras
import dragon.vm.tensorflow as tf
from harness.subresults import each

# Subscripts that end by themselves: a device is text; parts of variables are what variables have; a shape has as many
# sizes as it has.
ENDING = {"Device", "VariableParts", "DynamicRaggedShape"}
OPERATORS = tf.linalg.LinearOperator  # whose batches end, as `test_what_holds_nothing` shows
ITEMS = {
    "sparse tensor": lambda: tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]),
    "table of numbers": lambda: tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1),
    "table of text": lambda: tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1),
    "array": lambda: tf.TensorArray(tf.float32, 2),
    "spec": lambda: tf.TensorSpec((2, 3)),
    "rows of a tensor": lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
    "number": lambda: tf.constant(1.0),
    "text": lambda: tf.constant("text"),
    "variable": lambda: tf.Variable(1.0),
    "variable of Keras": lambda: keras.Variable(1.0),
    "symbol": lambda: keras.Input((3,)),
    "operator": lambda: tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]),
    "shape": lambda: tf.TensorShape(None),
}


@each("name", ITEMS)
@each("ask", (list, lambda item: [*item]), ids=["list", "star"])
def test_what_holds_nothing(name, ask):
    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        ask(ITEMS[name]())


def test_what_holds_something():
    assert [row.numpy().tolist() for row in tf.ragged.constant([[1, 2], [3]])] == [[1, 2], [3]]
    assert [float(item) for item in keras.Variable([1.0, 2.0])] == [1.0, 2.0]
    assert [float(one.trace()) for one in tf.linalg.LinearOperatorDiag([[1.0, 2.0], [3.0, 4.0]])] == [3.0, 7.0]
    with pytest.raises(ValueError, match="Index 1 is not uniform"):
        list(tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2), 3]))
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse[-1]), [0.0, 2.0])
    for key in (2, -3, (0, 2), (0, 0, 0), 1.5):
        with pytest.raises((IndexError, TypeError)):
            sparse[key]


def test_every_class_with_subscripts():
    endless = set()
    for room in ("tensorflow", "keras"):
        for found in pkgutil.walk_packages([f"{dragon.vm.__path__[0]}/{room}"], f"dragon.vm.{room}."):
            for name, item in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
                if item.__module__.startswith("dragon.") and "__getitem__" in dir(item) and not hasattr(
                        item, "__iter__") and not hasattr(item, "_fields") and not issubclass(item, OPERATORS):
                    endless.add(name)
    assert endless <= ENDING
