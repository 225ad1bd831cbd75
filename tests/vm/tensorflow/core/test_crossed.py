"""Crossed features, sparse counts, products and texts, and tridiagonal eigenvalues, beside genuine ones."""
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.expressions import check
from harness.subresults import each

NAMES = """S, R = tf.sparse, tf.ragged
a, b = S.from_dense([["a", ""], ["b", "c"]]), S.from_dense([["d"], ["e"]])
c, n = tf.constant([["f"], ["g"]]), tf.constant([[1], [-2]])
r, s = R.constant([["a"], ["b", "c"]]), R.constant([["d", "q"], ["e"]])
e = R.constant([[], ["z"]], dtype=tf.string)
def parts(x): return (x.indices, x.values, x.dense_shape) if hasattr(x, "indices") else x.to_list()
"""
EXPRESSIONS = """
parts(S.cross([a, b, c]))
parts(S.cross([a, b], separator="-"))
parts(S.cross([a, n]))
parts(S.cross([c, a, n, b]))
parts(S.cross([]))
parts(S.cross([a]))
parts(S.cross_hashed([a, b, c], num_buckets=100))
parts(S.cross_hashed([a, b]))
parts(S.cross_hashed([a, n], num_buckets=1000, hash_key=3))
S.cross([a, 3])
S.cross(a)
S.cross([a, tf.constant([["z"]])])
parts(R.cross([r, s]))
parts(R.cross([r, s, r]))
parts(R.cross([r, e]))
parts(R.cross([r, c]))
parts(R.cross([a, c]))
parts(R.cross([r, R.constant([[1], [2, 3]])]))
parts(R.cross_hashed([r, s], num_buckets=100))
parts(R.cross_hashed([r, s]))
parts(R.cross_hashed([r, n], num_buckets=7, hash_key=5))
parts(R.cross_hashed([r, n], num_buckets=7, hash_key=-1))
R.cross([r, R.constant([["a"]])])
R.cross([R.constant([[["a"]]])])
parts(S.bincount([1, 2, 2, 5]))
parts(S.bincount([[1, 2], [2, 2]], axis=-1))
parts(S.bincount([[1, 2], [2, 2]], axis=-1, binary_output=True))
parts(S.bincount([1, 2, 2], weights=[.5, 1., 2.], minlength=3, maxlength=9))
parts(S.bincount([1, 2, 9], maxlength=4))
parts(S.bincount(tf.constant([1, 2, 2], tf.int64)))
parts(S.bincount(R.constant([[1, 2], [2]], dtype=tf.int64), axis=-1))
S.bincount([1, 2], weights=[1., 2.], binary_output=True)
parts(S.bincount([1, 2], minlength=7))
parts(S.bincount(S.from_dense([[1, 0, 2]]), axis=-1))
parts(S.bincount(R.constant([[1, 2], [2]]), axis=-1))
parts(S.bincount(R.constant([[1, 2], [2]]), weights=R.constant([[1., 2.], [3.]]), axis=-1))
S.bincount([1, -2, 9])
S.bincount([[1, 2], [3, 4]], axis=1)
S.bincount([1.5])
S.sampled_addmm([[0, 0], [1, 1]], [1., 2.], [2, 2], *2 * [tf.constant([[1., 2.], [3., 4.]])], beta=.5, alpha=2.)
parts(tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(a), tf.string))
parts(tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(a)] * 2), tf.string, rank=3))
parts(tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(S.from_dense([[1, 0], [0, 2]])), tf.int32))
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(a), tf.int32)
tf.io.serialize_sparse(3)
tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5, .1])
tf.abs(tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5, .1], eigvals_only=False)[1])
tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5, .1], select="i", select_range=(1, 2))
tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5, .1], select="v", select_range=(1., 2.5))
tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5, .1], select="q")
tf.linalg.eigh_tridiagonal([1., 2., 3.], [.5])
"""


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    check(f"{NAMES}return {text}", 1e-4)


@pytest.mark.parametrize("places, values, sizes", [
    ("3", "1.5", "3"), ("[[0]]", "[1.5, 2.5]", "[3]"), ("[[0, 1]]", "[1.5]", "[3]"), ("[0]", "[1.5]", "[3]"),
    ("[[0]]", "[[1.5]]", "[3]"), ("[[0]]", "[1.5]", "[[3]]")])
def test_texts_that_are_no_sparse_tensor(places, values, sizes):
    check(f"""
parts = tf.constant({places}, tf.int64), tf.constant({values}), tf.constant({sizes}, tf.int64)
return tf.io.deserialize_many_sparse([[tf.io.serialize_tensor(part) for part in parts]], tf.float32)""")


def test_places_are_whole_numbers():
    # TensorFlow ends the process there.
    parts = ours.constant([[0.5]]), ours.constant([1.5]), ours.constant([3], ours.int64)
    with pytest.raises(ours.errors.InvalidArgumentError, match="Received: float32"):
        ours.io.deserialize_many_sparse([[ours.io.serialize_tensor(part) for part in parts]], ours.float32)


def test_text_goes_both_ways():
    dense = [[1, 0], [0, 2], [0, 0]]
    mine = ours.io.serialize_many_sparse(ours.sparse.from_dense(dense)).numpy()
    theirs = genuine.tf.io.serialize_many_sparse(genuine.tf.sparse.from_dense(dense)).numpy()
    read = ours.io.deserialize_many_sparse(ours.constant(theirs), ours.int32)
    assert ours.sparse.to_dense(read).numpy().tolist() == dense
    read = genuine.tf.io.deserialize_many_sparse(genuine.tf.constant(mine), genuine.tf.int32)
    assert genuine.tf.sparse.to_dense(read).numpy().tolist() == dense
