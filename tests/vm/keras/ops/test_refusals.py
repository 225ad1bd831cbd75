"""Arguments of `keras.ops` that nothing could follow are refused, here and by genuine Keras."""
import numpy
import pytest

import dragon.vm.keras as mine
from harness import genuine
from harness.subresults import each


def test_a_cap_on_scores():
    x = numpy.ones((1, 2, 1, 4), "float32")
    for keras in (mine, genuine.keras):
        with pytest.raises(ValueError, match="attn_logits_soft_cap"):
            keras.ops.dot_product_attention(x, x, x, attn_logits_soft_cap=5.0)


@pytest.mark.parametrize("signature, error", [
    (3, TypeError), ([], TypeError), ("bad", ValueError), ("(n)", ValueError), ("(n)->()", ValueError),
    ("(n),(n)->(n)", TypeError)])
def test_signatures_that_say_something_else(signature, error):
    for keras in (mine, genuine.keras):
        with pytest.raises(error):
            keras.ops.vectorize(lambda x: x, signature=signature)(numpy.ones(3, "float32"))
    with pytest.raises(ValueError, match="n=3"):
        mine.ops.vectorize(lambda x, y: x, signature="(n),(n)->(n)")(numpy.ones((2, 3)), numpy.ones(4))
    with pytest.raises(ValueError, match="without elements"):
        mine.ops.vectorize(lambda x: x)(numpy.ones((0, 3)))


def test_differences_until_nothing_is_left():
    for n in (3, 4, 2**62):
        assert mine.ops.diff(numpy.ones((2, 3)), n).shape == (2, 0)
    assert mine.ops.diff(mine.KerasTensor((2, 2**58)), 2**58).shape == (2, 0)


@pytest.mark.parametrize("repeats", [[1, 2], [1, 2, 3, 4], [1, 1.5, 1]])
def test_repeats_that_are_not_one_for_each_place(repeats):
    for keras in (mine, genuine.keras):
        with pytest.raises((ValueError, TypeError)):
            keras.ops.repeat(numpy.arange(3.0), repeats)
    with pytest.raises(ValueError):
        mine.ops.repeat(numpy.arange(3.0), [-1, 1, 1])


X, I = numpy.arange(6, dtype="float32").reshape(2, 3), numpy.array([[1, 0, 2], [0, 1, 1]], "int32")
WRONG = {
    "bounds between integers": lambda ops: ops.clip(I, 0.5, 1.5),
    "a first number between integers": lambda ops: ops.max(I, initial=2.5),
    "rows of rows of counts": lambda ops: ops.bincount(I[None]),
    "half a class": lambda ops: ops.one_hot(I, 2.5),
    "half a number": lambda ops: ops.linspace(0.0, 1.0, 2.5),
    "half a length": lambda ops: ops.bincount(I, minlength=2.5),
    "bins that fall": lambda ops: ops.digitize(X, [1.0, 0.0]),
    "a place that is not there": lambda ops: ops.argpartition(X, 5),
    "places between places": lambda ops: ops.take(X, [0.5], axis=0),
    "segments between segments": lambda ops: ops.segment_sum(X, numpy.array([0.0, 0.9])),
    "places of values between places": lambda ops: ops.scatter([[0.7]], [1.0], (3,)),
    "updates between places": lambda ops: ops.scatter_update(X, [[0.9, 0]], [1.0]),
    "a piece without a size": lambda ops: ops.slice(X, (0, 0), (1,)),
    "a piece without a place": lambda ops: ops.slice(X, (0,), (1, 1)),
    "a piece between places": lambda ops: ops.slice(X, (0.9, 0), (1, 1)),
    "a piece larger than all": lambda ops: ops.slice_update(X, (0, 0), numpy.ones((3, 3), "float32")),
    "less than no repeats": lambda ops: ops.repeat(X, -1),
    "rows beside matrices": lambda ops: ops.correlate(X, X),
}


@each("name", WRONG)
def test_wrong_numbers(name):
    for keras in (mine, genuine.keras):
        with pytest.raises((ValueError, TypeError, IndexError, genuine.tf.errors.OpError)):
            WRONG[name](keras.ops)
