"""Layers under construction: sizes are known, and a look at numbers that are not there is a letter, never garbage."""
import numpy
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness import genuine
from harness.subresults import each

SHAPED = {
    "reshape": (lambda x: tf.reshape(x, [tf.shape(x)[0], -1]), (None, 24)),
    "product": (lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1] * tf.shape(x)[2]]), (None, 24)),
    "product of all": (lambda x: tf.reshape(x, [tf.shape(x)[0], tf.reduce_prod(tf.shape(x)[1:])]), (None, 24)),
    "quotient": (lambda x: tf.reshape(x, [-1, tf.shape(x)[1] // 2, 2 * tf.shape(x)[2]]), (None, 2, 12)),
    "joined": (lambda x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [24]], 0)), (None, 24)),
    "from the end": (lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[-1], tf.shape(x)[-2]]), (None, 6, 4)),
    "unstacked": (lambda x: tf.reshape(x, [tf.unstack(tf.shape(x))[0], 24]), (None, 24)),
    "filled": (lambda x: tf.fill(tf.shape(x)[:2], 2.0), (None, 4)),
    "larger of two": (lambda x: tf.zeros([tf.shape(x)[0], tf.maximum(tf.shape(x)[1], 3)]), (None, 4)),
    "slice": (lambda x: x[:, :tf.shape(x)[1] // 2], (None, 2, 6)),
    "range": (lambda x: x + tf.cast(tf.range(tf.shape(x)[2]), tf.float32), (None, 4, 6)),
    "divisor": (lambda x: x / tf.cast(tf.shape(x)[1], tf.float32), (None, 4, 6)),
    "as an int": (lambda x: x * int(tf.shape(x)[1]), (None, 4, 6)),
    "as an array": (lambda x: x * numpy.asarray(tf.shape(x))[1], (None, 4, 6)),
    "decided by": (lambda x: x if tf.shape(x)[1] > 3 else x[0], (None, 4, 6)),
    "count of parts": (lambda x: tf.split(x, tf.shape(x)[1], axis=1)[0], (None, 1, 6)),
    "segments": (lambda x: keras.ops.segment_sum(tf.transpose(x, [1, 0, 2]), keras.ops.arange(4) // 2), (2, None, 6)),
}


def build(function):
    """Return the shape that a layer is said to have, and its result."""
    class Layer(keras.layers.Layer):
        def call(self, x):
            return function(x)
    given = keras.Input((4, 6))
    made = Layer()(given)
    return made.shape, keras.Model(given, made)(numpy.ones((3, 4, 6), "float32"))


@each("name", SHAPED)
def test_sizes_are_numbers_while_a_layer_is_built(name):
    function, shape = SHAPED[name]
    found, result = build(function)
    assert found == shape
    assert tuple(result.shape) == tuple(3 if size is None else size for size in shape)


@pytest.mark.parametrize("function", [
    lambda x: x * float(tf.reduce_sum(x)), lambda x: x if tf.reduce_sum(x) > 0 else -x, lambda x: x * numpy.asarray(x),
    lambda x: x[:, :int(x[0, 0, 0])], lambda x: x * x[0, 0, 0].numpy()])
def test_a_look_at_numbers_of_a_layer_under_construction_is_refused(function):
    with pytest.raises((NotImplementedError, TypeError), match="not known yet|numbers|symbolic"):
        build(function)


def test_how_many_segments_there_are_is_not_known_before_the_numbers():
    rows, places = keras.KerasTensor((4, 5)), keras.KerasTensor((4,), dtype="int32")
    for name in ("sum", "max", "min", "prod"):
        reduce = getattr(keras.ops, f"segment_{name}")
        assert reduce(rows, places).shape == (None, 5)
        assert reduce(rows, places, num_segments=3).shape == (3, 5)


def build_once(function, shape):
    """Learn what a function returns without calling it on numbers."""
    return keras.layers.Lambda(function)(keras.KerasTensor(shape))


@each("size", [4, 100])
@each("make", [
    tf.convert_to_tensor, lambda x: tf.constant(x.tolist()), keras.ops.convert_to_tensor,
    lambda x: tf.constant(x, "float32"), lambda x: keras.ops.convert_to_tensor(x, "float16")])
def test_what_is_made_of_data_may_be_kept(make, size):
    """Tables that a layer or a function makes once, wherever it is called first."""
    kept, data = [], numpy.arange(size * 2.0).reshape(size, 2)

    def call(x):
        if not kept:
            kept.append(make(data))
        return x + keras.ops.cast(kept[0], "float32")[:x.shape[1]]
    build_once(call, (3, size, 2))
    assert numpy.array_equal(numpy.asarray(keras.ops.cast(kept[0], "float32")), data.astype("float32"))


@pytest.mark.parametrize("method", ["bicubic", "lanczos3", "lanczos5"])
def test_resizing_is_inferred_before_it_is_done(method):
    x = numpy.random.RandomState(0).randn(2, 17, 19, 3).astype("float32")
    assert keras.ops.image.resize(keras.KerasTensor(x.shape), (34, 8), interpolation=method).shape == (2, 34, 8, 3)
    found = keras.ops.image.resize(x, (34, 8), interpolation=method)
    wanted = genuine.keras.ops.image.resize(x, (34, 8), interpolation=method)
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), 1e-4, 1e-4)


def test_what_was_computed_without_numbers_and_kept_is_refused():
    kept = []

    def call(x):
        kept.append(keras.ops.ones((300, 300)) * 2.0)
        return x
    build_once(call, (3, 4))
    for look in (numpy.asarray, lambda x: numpy.asarray(x + 1), lambda x: numpy.asarray(keras.ops.sum(x, 0))):
        with pytest.raises(RuntimeError, match="only shapes were worked out"):
            look(kept[0])
