"""Samplers and losses of a few classes, sparse look-ups, morphology and paths, beside the genuine ones."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.subresults import each

RNG = np.random.RandomState(0)
TABLE, BIAS, X = RNG.randn(10, 4).astype("float32"), RNG.randn(10).astype("float32"), RNG.randn(3, 4).astype("float32")
IMAGE = RNG.randn(2, 7, 6, 2).astype("float32")
LOGITS = (RNG.randn(5, 2, 4) * 3).astype("float32")


def drawn(tf):
    """Return a draw, the same for both."""
    return (tf.constant([1, 4, 7, 2], tf.int64), tf.constant([[0.3], [0.2], [0.1]]), tf.constant([0.3, 0.1, 0.05, 0.2]))


def right(tf):
    """Return the classes that are right."""
    return tf.constant([[1], [2], [9]], tf.int64)


def ids(tf):
    """Return sparse numbers of rows, one row of which is empty."""
    return tf.SparseTensor([[0, 0], [0, 2], [2, 0]], tf.constant([1, 3, 9], tf.int64), [4, 3])


def weights(tf):
    """Return a weight for each."""
    return tf.SparseTensor([[0, 0], [0, 2], [2, 0]], tf.constant([2.0, 0.5, -1.0]), [4, 3])


CALLS = {
    "nce": lambda tf: tf.nn.nce_loss(TABLE, BIAS, right(tf), X, 4, 10, sampled_values=drawn(tf)),
    "softmax": lambda tf: tf.nn.sampled_softmax_loss(TABLE, BIAS, right(tf), X, 4, 10, sampled_values=drawn(tf)),
    "hits": lambda tf: tf.nn.compute_accidental_hits(tf.constant([[1, 4], [2, 3]], tf.int64), drawn(tf)[0], 2),
    "all": lambda tf: list(tf.random.all_candidate_sampler(tf.constant([[1]], tf.int64), 1, 5, True)),
    "expected": lambda tf: tf.random.log_uniform_candidate_sampler(
        tf.constant([[0, 3]], tf.int64), 2, 20, False, 10)[1],
    "mean": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), None),
    "sqrtn": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), weights(tf), combiner="sqrtn"),
    "sum": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), weights(tf), combiner="sum", max_norm=1.0),
    "safe": lambda tf: tf.nn.safe_embedding_lookup_sparse(TABLE, ids(tf), weights(tf)),
    "safe_default": lambda tf: tf.nn.safe_embedding_lookup_sparse(TABLE, ids(tf), default_id=5),
    "dilation": lambda tf: tf.nn.dilation2d(IMAGE, RNG_FILTER, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]),
    "erosion": lambda tf: tf.nn.erosion2d(IMAGE, RNG_FILTER, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
    "places": lambda tf: tf.nn.max_pool_with_argmax(IMAGE, 3, 2, "SAME"),
    "places_of_batch": lambda tf: tf.nn.max_pool_with_argmax(IMAGE, 2, 2, "VALID", include_batch_in_index=True),
    "depthwise_input": lambda tf: tf.nn.depthwise_conv2d_backprop_input(
        [2, 7, 6, 2], DEPTHWISE, np.ones((2, 5, 4, 2), "float32"), [1, 1, 1, 1], "VALID"),
    "depthwise_filter": lambda tf: tf.nn.depthwise_conv2d_backprop_filter(
        IMAGE, [3, 3, 2, 1], np.ones((2, 7, 6, 2), "float32"), [1, 1, 1, 1], "SAME"),
    "atrous": lambda tf: tf.nn.atrous_conv2d_transpose(IMAGE, np.ones((3, 3, 5, 2), "float32"), [2, 7, 6, 5], 2,
                                                       "SAME"),
    "beams": lambda tf: [part for sparse in tf.nn.ctc_beam_search_decoder(LOGITS, [5, 3], 8, 2)[0]
                         for part in (sparse.indices, sparse.values, sparse.dense_shape)],
    "beam_chances": lambda tf: tf.nn.ctc_beam_search_decoder(LOGITS, [5, 3], 50, 2)[1],
    "collapsed": lambda tf: tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 4, 4]], [4, 5]),
    "unique": lambda tf: tf.nn.ctc_unique_labels([[3, 4, 4, 3], [5, 5, 5, 5]]),
    "falling": lambda tf: tf.nn.isotonic_regression([[3.0, 1.0, 2.0, 4.0], [1.0, 2.0, 3.0, 0.0]]),
    "rising": lambda tf: tf.nn.isotonic_regression([3, 1, 2, 4], decreasing=False),
}
RNG_FILTER, DEPTHWISE = RNG.randn(2, 3, 2).astype("float32"), RNG.randn(3, 3, 2, 1).astype("float32")


def arrays(value):
    """Return the arrays of a result."""
    return [np.asarray(part) for part in (value if isinstance(value, (list, tuple)) else [value])]


@each("name", CALLS)
def test_as_genuine(name):
    for mine, theirs in zip(arrays(CALLS[name](ours)), arrays(CALLS[name](genuine.tf)), strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        assert np.allclose(mine, theirs, atol=1e-4, rtol=1e-4)


def test_draws_follow_their_chances():
    ours.random.set_seed(1)
    true = ours.constant([[0, 9]], ours.int64)
    found = ours.random.fixed_unigram_candidate_sampler(true, 2, 4000, False, 4 + 6, unigrams=[4, 3, 2, 1] + [0] * 6)
    counts = np.bincount(found.sampled_candidates.numpy(), minlength=10)
    assert np.allclose(counts[:4] / 4000, [0.4, 0.3, 0.2, 0.1], atol=0.03) and not counts[4:].any()
    assert np.allclose(found.true_expected_count, [[1600, 0]])
    unique = ours.random.uniform_candidate_sampler(true, 2, 10, True, 10).sampled_candidates.numpy()
    assert sorted(unique) == list(range(10))
    same = [ours.nn.learned_unigram_candidate_sampler(true, 2, 5, True, 10, seed=3).sampled_candidates.numpy().tolist()
            for _ in range(2) if ours.random.set_seed(7) is None]
    assert same[0] == same[1]


def test_gradients_reach_the_table():
    table, bias = ours.Variable(TABLE), ours.Variable(BIAS)
    with ours.GradientTape() as tape:
        loss = ours.reduce_sum(ours.nn.nce_loss(table, bias, [[1], [2], [9]], X, 4, 10, sampled_values=drawn(ours)))
    slope = ours.convert_to_tensor(tape.gradient(loss, table)).numpy()
    assert set(np.flatnonzero(np.abs(slope).sum(1))) == {1, 2, 4, 7, 9}


def test_fractional_pools_cover_the_image():
    found, rows, columns = ours.nn.fractional_max_pool(IMAGE, [1.0, 1.4, 1.7, 1.0], seed=3)
    assert found.shape == (2, 5, 3, 2) and rows.numpy()[[0, -1]].tolist() == [0, 7] and columns.numpy()[-1] == 6
    assert np.isclose(found.numpy().max(), IMAGE.max())
    assert ours.nn.fractional_avg_pool(IMAGE, 2.0, pseudo_random=True, seed=3)[0].shape == (2, 3, 3, 2)


def test_refusals():
    with pytest.raises(ValueError, match="combiner='most'"):
        ours.nn.embedding_lookup_sparse(TABLE, ids(ours), None, combiner="most")
    with pytest.raises(ours.errors.InvalidArgumentError, match="num_sampled=11"):
        ours.random.uniform_candidate_sampler(ours.constant([[0]], ours.int64), 1, 11, True, 10)
    with pytest.raises(ValueError, match="vocab_file and unigrams"):
        ours.random.fixed_unigram_candidate_sampler(ours.constant([[0]], ours.int64), 1, 1, True, 10)
    with pytest.raises(ValueError, match="should be larger than 1"):
        ours.nn.fractional_max_pool(IMAGE, 0.5)
