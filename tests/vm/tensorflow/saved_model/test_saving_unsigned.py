"""Saved functions of unsigned integers: they stay what they are, here and in genuine TensorFlow."""
import pytest
from harness import genuine

from dragon.vm import tensorflow as tf

KINDS = ("uint8", "uint16", "uint32", "uint64")


def results(tf, function, kind, values):
    """Return dtypes and numbers of what a function returns."""
    return [(one.dtype.name, one.numpy().tolist()) for one in function(tf.constant(values, kind))]


@pytest.fixture(params=KINDS)
def saved(request, tmp_path):
    """Return a kind, a module that was saved, and where."""
    kind, module = request.param, tf.Module()
    module.v = tf.Variable(tf.cast([1, 2], kind))

    def function(x):
        shifted = tf.bitwise.bitwise_xor(tf.bitwise.bitwise_or(x, tf.constant(8, kind)), tf.constant(1, kind))
        return (x + module.v, x * x, tf.bitwise.bitwise_and(x, tf.constant(6, kind)), shifted, tf.cast(x, "float32"),
                tf.maximum(x, tf.constant(3, kind)), tf.reduce_sum(x), x // tf.constant(2, kind))
    module.f = tf.function(function, input_signature=[tf.TensorSpec([None], kind)])
    tf.saved_model.save(module, tmp_path)
    return kind, module, str(tmp_path)


def test_round_trip(saved):
    """What is loaded computes in the very dtype, beyond the signed numbers too."""
    kind, module, path = saved
    loaded, most = tf.saved_model.load(path), tf.as_dtype(kind).max
    assert loaded.v.dtype.name == kind
    for values in ([3, 7], [most - 5, most - 2] if kind != "uint64" else [2 ** 40, 5]):
        assert results(tf, loaded.f, kind, values) == results(tf, module.f, kind, values)
    assert results(tf, loaded.f, kind, [3, 7])[:4] == [
        (kind, [4, 9]), (kind, [9, 49]), (kind, [2, 6]), (kind, [10, 14])]


def test_genuine_reads_them(saved):
    """Genuine TensorFlow gets the same numbers of the file."""
    kind, module, path = saved
    theirs = genuine.tf
    assert results(theirs, theirs.saved_model.load(path).f, kind, [3, 7]) == results(tf, module.f, kind, [3, 7])


@pytest.mark.parametrize("kind", KINDS[1:])
def test_files_of_genuine(kind, tmp_path):
    """Constants and casts in files of genuine TensorFlow keep their dtypes."""
    theirs = genuine.tf
    module = theirs.Module()
    module.f = theirs.function(lambda x: (theirs.cast(x, kind) + theirs.constant([5, 2 ** 15 + 7], kind),
                                          theirs.bitcast(theirs.cast(x, kind), kind.replace("u", ""))),
                               input_signature=[theirs.TensorSpec([2], theirs.int32)])
    theirs.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert results(tf, loaded.f, "int32", [3, 7]) == results(theirs, module.f, "int32", [3, 7])
