"""Indices outside their axis are refused where genuine TensorFlow and Keras refuse them on the CPU."""
import pytest

from dragon.vm import keras as dragon_keras
from dragon.vm import tensorflow as dragon_tf
from harness import genuine
from harness.subresults import each
from harness.twin import rows

CALLS = """
tf.gather(w, [i])
tf.gather(w, [i], axis=1)
tf.gather(w, [[i], [0], [0]], batch_dims=1)
tf.gather(w, [[i], [0], [0]], batch_dims=1, axis=1)
tf.gather_nd(w, [[i]])
tf.gather_nd(w, [[0, i]])
tf.gather_nd(w, [[[i]], [[0]], [[0]]], batch_dims=1)
tf.tensor_scatter_nd_update(w, [[i]], [[1., 1, 1, 1]])
tf.tensor_scatter_nd_add(w, [[0, i]], [9.])
tf.tensor_scatter_nd_sub(w, [[i]], [[1., 1, 1, 1]])
tf.tensor_scatter_nd_max(w, [[1, i]], [1.])
tf.tensor_scatter_nd_min(w, [[0, i]], [1.])
tf.scatter_nd([[i]], [5.], [3])
tf.scatter_nd([[1, i]], [5.], [3, 4])
tf.math.unsorted_segment_sum(w, [0, i, 0], 3)
tf.math.unsorted_segment_mean(w, [0, i, 0], 3)
tf.math.unsorted_segment_max(w, [0, i, 0], 3)
tf.math.unsorted_segment_prod(w, [0, i, 0], 3)
tf.math.segment_sum(w, [i, 0, 0])
tf.math.segment_mean(w, [i, i, i])
tf.nn.embedding_lookup(w, [i])
tf.one_hot([i], 3)
tf.nn.sparse_softmax_cross_entropy_with_logits([i, 0, 0], w)
tf.math.bincount([i, 0])
tf.math.in_top_k([i, 0, 0], w, 2)
tf.dynamic_partition(w, [i, 0, 0], 2)[0]
tf.dynamic_stitch([[i], [0]], [[1.], [2.]])
tf.reverse_sequence(w, [i, 0, 0], seq_axis=1)
tf.convert_to_tensor(tf.IndexedSlices(tf.ones([1, 4]), tf.constant([i]), tf.constant([3, 4])))
tf.Variable(w).scatter_nd_update([[i]], [[1., 1, 1, 1]])
tf.Variable(w).scatter_update(tf.IndexedSlices(tf.ones([1, 4]), tf.constant([i])))
tf.Variable(w).scatter_add(tf.IndexedSlices(tf.ones([1, 4]), tf.constant([i])))
tf.Variable(w).scatter_max(tf.IndexedSlices(tf.ones([1, 4]), tf.constant([i])))
w[i]
gradient(lambda v: tf.gather(v, [i]), w)
gradient(lambda v: tf.nn.sparse_softmax_cross_entropy_with_logits([i, 0, 0], v), w)
tf.function(lambda i: tf.gather(w, i))(tf.constant([i]))
tf.function(lambda i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, w))(tf.constant([i, 0, 0]))
keras.ops.take(w, [i], axis=0)
keras.ops.take(w, [i], axis=1)
keras.ops.take(w, [[i]], axis=0)
keras.ops.take_along_axis(w, [[i, 0, 0, 0]], axis=0)
keras.ops.take_along_axis(w, [i])
keras.ops.scatter([[1, i]], [5.], (3, 4))
keras.ops.scatter_update(w, [[0, i]], [1.])
keras.ops.scatter_update(w, [[1, i]], [1.], reduction='add')
keras.ops.scatter_update(w, [[1, i]], [1.], reduction='max')
keras.ops.one_hot([i], 3)
keras.ops.sparse_categorical_crossentropy([i, 0, 0], w, from_logits=True)
keras.losses.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([i, 0, 0]), w)
keras.losses.SparseCategoricalCrossentropy(ignore_class=-1)(tf.constant([i, 0, 0]), keras.ops.softmax(w))
keras.metrics.SparseCategoricalCrossentropy(from_logits=True)(tf.constant([i, 0, 0]), w)
keras.layers.Embedding(3, 4, embeddings_initializer='ones')(tf.constant([i]))
keras.layers.CategoryEncoding(3)(tf.constant([i, 0]))
keras.layers.CategoryEncoding(3, output_mode='one_hot')(tf.constant([i, 0]))
tf.gather_nd(w, [[i], [0]], bad_indices_policy="IGNORE")
tf.gather_nd(w, [[i, 1], [0, i], [2, 3]], bad_indices_policy="IGNORE")
tf.gather_nd(w, [[i], [0], [1]], batch_dims=1, bad_indices_policy="IGNORE")
tf.gather_nd(w[:0], [[i], [0]], bad_indices_policy="IGNORE")
tf.gather_nd(w, [[i], [0]], bad_indices_policy="ERROR")
tf.scatter_nd([[i], [0]], w[:2], [3, 4], bad_indices_policy="IGNORE")
tf.scatter_nd([[i, 1], [0, i], [2, 3]], [1., 2., 3.], [3, 4], bad_indices_policy="IGNORE")
tf.scatter_nd([[i], [0]], w[:2], [0, 4], bad_indices_policy="IGNORE")
tf.scatter_nd([[i], [0]], w[:2], [3, 4], bad_indices_policy="DEFAULT")
tf.scatter_nd([[0]], w[:1], [3, 4], "LENIENT")
tf.tensor_scatter_nd_add(w, [[i], [0]], w[:2], "IGNORE")
tf.tensor_scatter_nd_sub(w, [[i], [0]], w[:2], "IGNORE")
tf.tensor_scatter_nd_max(w, [[i], [0]], w[1:], "IGNORE")
tf.tensor_scatter_nd_min(w, [[i], [0]], w[:2], "IGNORE")
tf.tensor_scatter_nd_max(w, [[0]], w[:1], "LENIENT")
"""
INDICES = (-1, -3, -4, -5, -13, 2, 3, 4, 12)


def _gradient(tf):
    def gradient(function, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(function(x) ** 2)
        return tf.convert_to_tensor(tape.gradient(total, x))
    return gradient


def _outcome(tf, keras, code, index):
    w = tf.reshape(tf.range(12.), (3, 4)) / 10
    try:
        made = eval(code, {"tf": tf, "keras": keras, "w": w, "i": index, "gradient": _gradient(tf)})
        return (made if hasattr(made, "numpy") else tf.convert_to_tensor(made)).numpy()
    except (IndexError, ValueError, RuntimeError, tf.errors.OpError) as error:
        return error


@each("code", rows(CALLS))
def test_the_value_or_a_refusal(code):
    for index in INDICES:
        told = _outcome(genuine.tf, genuine.keras, code, index)
        mine = _outcome(dragon_tf, dragon_keras, code, index)
        said = f"i = {index}: genuine {told!r}, Dragon {mine!r}"
        assert isinstance(told, Exception) == isinstance(mine, Exception), said
        if not isinstance(told, Exception):
            assert mine.tolist() == pytest.approx(told.tolist(), rel=1e-5, abs=1e-6) if told.ndim < 2 else (
                mine.shape == told.shape and abs(mine - told).max() < 1e-5), said


def test_gradients_flow_past_ignored_indices():
    """Genuine TensorFlow's gradients of these forget the policy, and refuse."""
    tf = dragon_tf
    w = tf.reshape(tf.range(12.), (3, 4))
    found = _gradient(tf)(lambda u: tf.gather_nd(u, [[9], [1]], bad_indices_policy="IGNORE"), w)
    assert found.numpy().tolist() == [[0.0] * 4, [8.0, 10.0, 12.0, 14.0], [0.0] * 4]
    found = _gradient(tf)(lambda u: tf.scatter_nd([[9], [1]], u, [3, 4], "IGNORE"), w[:2])
    assert found.numpy().tolist() == [[0.0] * 4, [8.0, 10.0, 12.0, 14.0]]
