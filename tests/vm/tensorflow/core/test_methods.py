"""Methods that are `tf.function`s: their graphs are the object's own, and go with it."""
import copy
import gc
import pickle
import weakref

import pytest

from dragon.vm import tensorflow as tf


class Scaled(tf.Module):
    """Multiplies by a number of its own."""

    def __init__(self, scale):
        super().__init__()
        self.scale = tf.Variable(scale)

    @tf.function
    def __call__(self, x):
        return x * self.scale


class Plain:
    """The same, equal to all others and without attributes of its own."""

    __slots__ = ("scale", "__weakref__")

    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return isinstance(other, Plain)

    __hash__ = object.__hash__

    @tf.function
    def __call__(self, x):
        return x * self.scale


class Equal:
    """All objects of it are equal, and none has a hash."""

    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return isinstance(other, Equal)

    __hash__ = None

    @tf.function
    def double(self, x):
        return x * self.scale * 2


@pytest.mark.parametrize("make", [Scaled, Plain])
def test_each_object_has_graphs_of_its_own(make):
    one, other = make(2.0), make(3.0)
    x = tf.constant(5.0)
    assert [float(f(x)) for f in (one, other, one)] == [10, 15, 10]


def test_objects_that_are_equal_or_have_no_hash():
    one, other = Equal(2.0), Equal(3.0)
    x = tf.constant(5.0)
    assert [float(f.double(x)) for f in (one, other)] == [20, 30]
    assert one.double is one.double and one.double.experimental_get_tracing_count() == 1


def test_objects_are_let_go():
    """Also those whose graphs hold them."""
    def use():
        made = Scaled(2.0)
        made(tf.constant(1.0)), made(tf.constant([1.0]))
        return weakref.ref(made)
    found = use()
    gc.collect()
    assert found() is None


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_begin_anew(again):
    one = Equal(2.0)
    assert float(one.double(tf.constant(1.0))) == 4
    other = again(one)
    other.scale = 7.0
    assert float(other.double(tf.constant(1.0))) == 14
    assert float(one.double(tf.constant(1.0))) == 4


def test_a_function_outlives_its_object():
    """TensorFlow gives the Python function None then; graphs that are there need no object."""
    double = Equal(2.0).double
    gc.collect()
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'scale'"):
        double(tf.constant(1.0))


def test_vars_that_are_walked():
    """What an object keeps for its functions is no part of a module."""
    one = Scaled(2.0)
    one(tf.constant(1.0))
    assert len(one.variables) == 1 and one.submodules == ()
