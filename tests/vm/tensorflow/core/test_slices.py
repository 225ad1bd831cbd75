"""Gradients of look-ups: the rows and their numbers, as genuine TensorFlow gives them."""
import numpy as np
import pytest

from dragon.vm import tensorflow as tf

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def parts(slope):
    """Return what slices are made of."""
    assert isinstance(slope, tf.IndexedSlices)
    return slope.values.numpy().tolist(), slope.indices.numpy().tolist(), slope.dense_shape.numpy().tolist()


def slope_of(function, source):
    """Return the gradient of a function of nothing."""
    with tf.GradientTape() as tape:
        if not isinstance(source, tf.Variable):
            tape.watch(source)
        value = function()
    return tape.gradient(value, source)


@pytest.mark.parametrize("make", [tf.Variable, tf.constant])
def test_rows_come_alone(make):
    v = make(TABLE)
    assert parts(slope_of(lambda: tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2), v)) == (
        [[2, 4], [10, 12], [2, 4]], [0, 2, 0], [3, 2])
    found = slope_of(lambda: tf.reduce_sum(tf.nn.embedding_lookup(v, tf.constant([[0, 2], [1, 1]], tf.int64)) ** 2), v)
    assert parts(found) == ([[2, 4], [10, 12], [6, 8], [6, 8]], [0, 2, 1, 1], [3, 2])
    assert found.indices.dtype == tf.int64
    assert parts(slope_of(lambda: tf.reduce_sum(tf.gather(v, [0, 2])) + tf.reduce_sum(tf.gather(v, [1]) * 3), v)) == (
        [[1, 1], [1, 1], [3, 3]], [0, 2, 1], [3, 2])


def test_other_uses_make_the_whole():
    v = tf.Variable(TABLE)
    assert slope_of(lambda: tf.reduce_sum(tf.gather(v, [0, 2])) + tf.reduce_sum(v), v).numpy().tolist() == [
        [2, 2], [1, 1], [2, 2]]
    assert slope_of(lambda: tf.reduce_sum(tf.gather(v, [0], axis=1)), v).numpy().tolist() == [[1, 0]] * 3


def test_unused_look_ups_and_no_rows():
    v, w = tf.Variable(TABLE), tf.Variable([1.0, 2.0])
    assert slope_of(lambda: (tf.gather(v, [0]), tf.reduce_sum(w))[1], v) is None
    assert parts(slope_of(lambda: tf.reduce_sum(tf.gather(v, tf.zeros([0], tf.int32))), v)) == ([], [], [3, 2])


def test_persistent_and_nested_tapes():
    v = tf.Variable(TABLE)
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.gather(v, [0, 2])
        y = tf.reduce_sum(rows * rows)
    assert parts(tape.gradient(y, v)) == parts(tape.gradient(y, v)) == ([[2, 4], [10, 12]], [0, 2], [3, 2])
    assert tape.gradient(y, rows).numpy().tolist() == [[2, 4], [10, 12]]
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(v, [0, 2]) ** 3)
        z = tf.reduce_sum(tf.convert_to_tensor(inner.gradient(y, v)))
    assert np.allclose(tf.convert_to_tensor(outer.gradient(z, v)), [[6, 12], [0, 0], [30, 36]])


def test_optimizers_and_clipping_take_them():
    v = tf.Variable(TABLE)
    slope = slope_of(lambda: tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2), v)
    clipped, norm = tf.clip_by_global_norm([slope], 1.0)
    assert isinstance(clipped[0], tf.IndexedSlices) and np.isclose(norm, 16.852299)
    tf.keras.optimizers.SGD(0.5).apply_gradients([(slope, v)])
    assert v.numpy().tolist() == [[-1, -2], [3, 4], [0, 0]]
    tf.compat.v1.train.GradientDescentOptimizer(1.0).minimize(lambda: tf.reduce_sum(tf.gather(v, [1, 1])))
    assert v.numpy().tolist() == [[-1, -2], [1, 2], [0, 0]]


def test_graphs_give_whole_tensors():
    v = tf.Variable(TABLE)

    @tf.function
    def slope():
        return slope_of(lambda: tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2), v)
    assert parts(slope()) == ([[2, 4], [10, 12], [2, 4]], [0, 2, 0], [3, 2])


def test_functions_give_rows_for_all_calls():
    """Of a compiled step come the rows of its own call, whatever the numbers and however many there are."""
    v, kinds = tf.Variable(tf.ones([5, 2])), []

    @tf.function
    def step(numbers):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(v, numbers) ** 2)
        slope = tape.gradient(loss, v)
        kinds.append(type(slope))
        v.scatter_sub(tf.IndexedSlices(slope.values * 0.1, slope.indices))
        return slope
    assert parts(step(tf.constant([1, 1, 3]))) == ([[2, 2]] * 3, [1, 1, 3], [5, 2])
    np.testing.assert_allclose(v[:, 0], [1, 0.6, 1, 0.8, 1], 1e-6)
    values, numbers, shape = parts(step(tf.constant([1, 0, 3, 4])))
    np.testing.assert_allclose(values, [[1.2] * 2, [2] * 2, [1.6] * 2, [2] * 2], 1e-6)
    assert (numbers, shape, set(kinds)) == ([1, 0, 3, 4], [5, 2], {tf.IndexedSlices})
    np.testing.assert_allclose(v[:, 0], [0.8, 0.48, 1, 0.64, 0.8], 1e-6)


def test_functions_within_functions_and_other_uses():
    """Where the look-up is a function's own, within a loop or one use of several, gradients are the same numbers."""
    v = tf.Variable(tf.ones([5, 2]))
    look = tf.function(lambda numbers: tf.gather(v, numbers) ** 2)

    def looped(numbers):
        total = 0.0
        for _ in tf.range(3):
            total += tf.reduce_sum(tf.gather(v, numbers) ** 2)
        return total
    for compute, factor, more in ((lambda numbers: tf.reduce_sum(look(numbers)), 1, 0), (looped, 3, 0),
                                  (lambda numbers: tf.reduce_sum(tf.gather(v, numbers) ** 2) + tf.reduce_sum(v), 1, 1)):
        @tf.function
        def slope(numbers, compute=compute):
            with tf.GradientTape() as tape:
                loss = compute(numbers)
            return tf.convert_to_tensor(tape.gradient(loss, v))
        np.testing.assert_allclose(slope(tf.constant([1, 1, 3]))[:, 0], np.array([0, 4, 0, 2, 0]) * factor + more)
