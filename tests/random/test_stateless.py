"""Functions of a seed give TensorFlow's own numbers, to the last bit."""
import numpy as np
import pytest

from dragon import ops, tensor
from harness import genuine
from harness.subresults import each

SEEDS = [[1, 2], [-5, 7], [2 ** 40 + 3, -1]]
SIZES = [3, 1001, 70003]


def assert_same(found, wanted):
    """Compare bits; NaN equals NaN."""
    found, wanted = found.numpy(), wanted.numpy()
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@each("dtype", ["float32", "float64", "float16"])
@each("size", SIZES)
@each("seed", SEEDS)
def test_reals(seed, size, dtype):
    random, own = genuine.tf.random, tensor(np.array(seed))
    assert_same(ops.stateless_uniform(own, [size], dtype=dtype), random.stateless_uniform([size], seed, dtype=dtype))
    assert_same(ops.stateless_uniform(own, [size], low=-0.3, high=1.7, dtype=dtype),
                random.stateless_uniform([size], seed, -0.3, 1.7, dtype=dtype))
    assert_same(ops.stateless_normal(own, [size], mean=0.1, std=2.3, dtype=dtype),
                random.stateless_normal([size], seed, 0.1, 2.3, dtype=dtype))
    assert_same(ops.stateless_truncated_normal(own, [size], std=0.05, dtype=dtype),
                random.stateless_truncated_normal([size], seed, 0.0, 0.05, dtype=dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("size", SIZES)
def test_integers(size, dtype):
    random, own = genuine.tf.random, tensor(np.array(SEEDS[1]))
    for low, high in ((-3, 10007), (0, 2 ** 31 - 1), (None, None)):
        assert_same(ops.stateless_integers(own, [size], low=low, high=high, dtype=dtype),
                    random.stateless_uniform([size], SEEDS[1], low, high, dtype=dtype))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.7])
def test_gamma(alpha):
    tf, own = genuine.tf, tensor(np.array(SEEDS[0]))
    assert_same(ops.stateless_gamma(own, ops.full([500], alpha)),
                tf.random.stateless_gamma([500], SEEDS[0], tf.fill([500], alpha)))
    assert_same(ops.stateless_gamma(own, tensor([alpha, 2.0]), 50),
                tf.random.stateless_gamma([50, 2], SEEDS[0], tf.constant([alpha, 2.0])))


@pytest.mark.parametrize("count, p", [(5.0, 0.3), (100.0, 0.4), (1000.0, 0.9), (20.0, 0.01), (9.0, 1.0)])
def test_binomial(count, p):
    tf, own = genuine.tf, tensor(np.array(SEEDS[0]))
    assert_same(ops.stateless_binomial(own, ops.full([500], count), ops.full([500], p)),
                tf.random.stateless_binomial([500], SEEDS[0], tf.fill([500], count), tf.fill([500], p), "float32"))


def test_categories():
    logits = np.random.RandomState(0).randn(5, 7).astype("float32")
    logits[1, 2] = -np.inf
    assert_same(ops.stateless_categorical(tensor(np.array(SEEDS[0])), tensor(logits), 20),
                genuine.tf.random.stateless_categorical(logits, 20, SEEDS[0]))


def test_many_radii_and_angles():
    """The logarithm and the sine behind normal numbers agree with the C library's."""
    own = tensor(np.array([3, 4]))
    assert_same(ops.stateless_normal(own, [1 << 22]), genuine.tf.random.stateless_normal([1 << 22], [3, 4]))
