"""Which axes TensorFlow's functions reduce: none for an empty list, all for None; wrong ones are refused."""
import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

AXES = (None, (), [], 0, -1, (1,), [0, -1], (0, 1, 2), np.int64(1), np.array([0, 2]))
WRONG = ((0, 0), (0, -3), 3, -4, (1, 7), 2**64, 1.5, "a", (None,), {"a": 1})
REFUSALS = (ValueError, TypeError, IndexError, OverflowError)
X = np.random.default_rng(7).standard_normal((2, 3, 4)).astype("float32")
FUNCTIONS = {
    **{name: lambda tf, x, axis, name=name, **more: getattr(tf, name)(x, axis, **more) for name in (
        "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp".split())},
    **{name: lambda tf, x, axis, name=name, **more: getattr(tf.math, name)(x, axis, **more) for name in (
        "reduce_variance reduce_std reduce_euclidean_norm count_nonzero".split())},
    **{name: lambda tf, x, axis, name=name, **more: getattr(tf, name)(x > 0, axis, **more) for name in (
        "reduce_any", "reduce_all")},
    "l2_normalize": lambda tf, x, axis: tf.math.l2_normalize(x, axis),
    "normalize": lambda tf, x, axis: tf.linalg.normalize(x, axis=axis),
    "norm": lambda tf, x, axis, **more: tf.norm(x, axis=axis, **more),
    "moments": lambda tf, x, axis, **more: tf.nn.moments(x, axis, **more),
    "weighted_moments": lambda tf, x, axis, **more: tf.nn.weighted_moments(x, axis, tf.ones_like(x) * 2.0, **more),
    "sufficient_statistics": lambda tf, x, axis, **more: tf.nn.sufficient_statistics(x, axis, **more),
    "zero_fraction": lambda tf, x, axis: tf.nn.zero_fraction(tf.reduce_sum(x, axis)),
    "sparse_sum": lambda tf, x, axis, **more: tf.sparse.reduce_sum(tf.sparse.from_dense(x), axis, **more),
    "sparse_max": lambda tf, x, axis, **more: tf.sparse.reduce_max(tf.sparse.from_dense(x), axis, **more),
}
WITHOUT_KEEPDIMS = ("l2_normalize", "normalize", "zero_fraction")


def results(tf, function, x, axis, **more):
    """Return what a function makes as arrays."""
    found = function(tf, tf.constant(x), axis, **more)
    return [np.asarray(item) for item in (found if isinstance(found, tuple) else (found,)) if item is not None]


@each("name", FUNCTIONS)
def test_axes_as_told(name):
    compared = 0
    for axis in AXES:
        for more in ({},) if name in WITHOUT_KEEPDIMS else ({}, {"keepdims": True}):
            try:
                wanted = results(genuine.tf, FUNCTIONS[name], X, axis, **more)
            except Exception:  # noqa: B902: what genuine TensorFlow does not take in this way
                continue
            found = results(mine, FUNCTIONS[name], X, axis, **more)
            for own, other in zip(found, wanted, strict=True):
                assert own.shape == other.shape and own.dtype == other.dtype, (axis, more)
                np.testing.assert_allclose(own.astype("float64"), other.astype("float64"), 1e-5, 1e-5, str(axis))
            compared += 1
    assert compared


@each("name", FUNCTIONS)
def test_wrong_axes(name):
    for axis in WRONG:
        try:
            results(genuine.tf, FUNCTIONS[name], X, axis)
        except Exception:  # noqa: B902: of many classes
            with pytest.raises((*REFUSALS, mine.errors.OpError)):
                results(mine, FUNCTIONS[name], X, axis)
