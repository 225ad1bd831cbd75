"""Sparse tensors: conversions, joins, products and reductions as of genuine ones."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as dtf

MATRIX = [[0.0, 2.0, 0.0], [-3.0, 0.0, 4.0]]
OTHER = [[1.0, -2.0, 0.0], [0.0, 0.0, 5.0]]
DENSE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def matrix(tf):
    """Return a sparse matrix."""
    return tf.sparse.from_dense(MATRIX)


CALLS = {
    "from_dense": lambda tf, s: matrix(tf),
    "from_dense_strings": lambda tf, s: s.from_dense(["", "a"]),
    "to_dense": lambda tf, s: s.to_dense(tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3]), default_value=-1),
    "to_dense_strings": lambda tf, s: s.to_dense(tf.SparseTensor([[1]], ["x"], [3])),
    "reorder": lambda tf, s: s.reorder(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 3])),
    "reshape": lambda tf, s: s.reshape(matrix(tf), [3, -1]),
    "expand_dims": lambda tf, s: s.expand_dims(matrix(tf), 1),
    "transpose": lambda tf, s: s.transpose(matrix(tf)),
    "slice": lambda tf, s: s.slice(matrix(tf), [0, 1], [2, 2]),
    "concat": lambda tf, s: s.concat(1, [matrix(tf), matrix(tf)]),
    "concat_rows": lambda tf, s: s.concat(0, [matrix(tf), matrix(tf)]),
    "split": lambda tf, s: s.split(matrix(tf), 2, axis=1)[0],
    "add": lambda tf, s: s.add(matrix(tf), s.from_dense(OTHER)),
    "add_dense": lambda tf, s: s.add(matrix(tf), tf.constant(OTHER)),
    "maximum": lambda tf, s: s.maximum(matrix(tf), s.from_dense(OTHER)),
    "minimum": lambda tf, s: s.minimum(matrix(tf), s.from_dense(OTHER)),
    "scaled": lambda tf, s: matrix(tf) * 2.0,
    "times_row": lambda tf, s: matrix(tf) * tf.constant([[1.0, 2.0, 3.0]]),
    "matmul": lambda tf, s: s.sparse_dense_matmul(matrix(tf), tf.constant(DENSE)),
    "matmul_adjoint": lambda tf, s: s.sparse_dense_matmul(matrix(tf), tf.constant(MATRIX), adjoint_a=True),
    "matmul_dense_first": lambda tf, s: s.sparse_dense_matmul(tf.constant([[1.0, 2.0]]), matrix(tf)),
    "sum": lambda tf, s: s.reduce_sum(matrix(tf)),
    "sum_rows": lambda tf, s: s.reduce_sum(matrix(tf), axis=1),
    "sum_keep": lambda tf, s: s.reduce_sum(matrix(tf), axis=0, keepdims=True),
    "max_rows": lambda tf, s: s.reduce_max(matrix(tf), axis=1),
    "softmax": lambda tf, s: s.softmax(matrix(tf)),
    "retain": lambda tf, s: s.retain(matrix(tf), [True, False, True]),
    "eye": lambda tf, s: s.eye(2, 3),
    "fill_empty_rows": lambda tf, s: s.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [4, 3]), 9)[0],
    "reset_shape": lambda tf, s: s.reset_shape(matrix(tf), [3, 4]),
    "to_indicator": lambda tf, s: s.to_indicator(
        tf.SparseTensor([[0, 0], [1, 1]], tf.constant([2, 0], tf.int64), [2, 3]), 4),
    "segment_sum": lambda tf, s: s.segment_sum(tf.constant(DENSE), [0, 2, 1], [0, 0, 2]),
    "segment_mean": lambda tf, s: s.segment_mean(tf.constant(DENSE), [0, 2, 1], [0, 0, 2], num_segments=4),
    "segment_sqrt_n": lambda tf, s: s.segment_sqrt_n(tf.constant(DENSE), [0, 2, 1], [0, 0, 1]),
    "map_values": lambda tf, s: s.map_values(lambda x: x * x, matrix(tf)),
}


def plain(value):
    """Return a tensor, sparse or dense, in a form to compare."""
    if hasattr(value, "dense_shape"):
        return value.indices.numpy().tolist(), plain(value.values), value.dense_shape.numpy().tolist()
    array = np.asarray(value.numpy())
    return value.dtype.name, array.shape, np.round(array, 5).tolist() if array.dtype.kind == "f" else array.tolist()


@each("name", CALLS)
def test_call_is_as_genuine(name):
    assert plain(CALLS[name](dtf, dtf.sparse)) == plain(CALLS[name](genuine.tf, genuine.tf.sparse))


@pytest.mark.parametrize("call", [
    lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3])),
    lambda tf: tf.sparse.to_dense(tf.SparseTensor([[5]], [1], [3])),
    lambda tf: tf.sparse.reshape(matrix(tf), [4, 2]),
    lambda tf: tf.sparse.add(matrix(tf), tf.sparse.from_dense([[1.0]])),
    lambda tf: tf.sparse.sparse_dense_matmul(matrix(tf), tf.constant([[1.0]])),
])
def test_bad_input_raises(call):
    for tf in (dtf, genuine.tf):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            call(tf)


def test_gradients_reach_the_values():
    found = []
    for tf in (dtf, genuine.tf):
        values, dense = tf.constant([1.0, 2.0]), tf.constant(DENSE)
        with tf.GradientTape() as tape:
            tape.watch([values, dense])
            sparse = tf.SparseTensor([[0, 1], [1, 2]], values, [2, 3])
            product = tf.sparse.sparse_dense_matmul(sparse, dense)
            total = tf.reduce_sum(product * product) + tf.reduce_sum(tf.sparse.to_dense(sparse) ** 2)
        found.append([gradient.numpy().tolist() for gradient in tape.gradient(total, [values, dense])])
    assert found[0] == found[1]


def test_batches_of_sparse_rows():
    found = []
    for tf in (dtf, genuine.tf):
        dataset = tf.data.Dataset.from_tensor_slices(matrix(tf)).batch(2)
        found.append(([plain(batch) for batch in dataset], str(dataset.element_spec)))
    assert found[0] == found[1]
