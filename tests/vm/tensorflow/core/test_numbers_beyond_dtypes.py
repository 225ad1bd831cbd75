"""Python integers beyond a dtype become in tensors what genuine TensorFlow makes of them, or are refused as there."""
import pytest

from dragon.vm import tensorflow as dragon_tf
from harness import genuine
from harness.subresults import each
from harness.twin import rows

CALLS = """
tf.constant(s, dt)
tf.constant([s], dt)
tf.convert_to_tensor(s, dt)
tf.Variable(s, dtype=dt).read_value()
tf.fill([2], tf.constant(s, dt))
tf.cast(s, dt)
tf.clip_by_value(x, 0, s)
x + s
s - x
x * s
x / s
s / x
x // s
x % s
x & s
x == s
x < s
tf.add(x, s)
tf.divide(x, s)
tf.maximum(x, s)
tf.equal(x, s)
tf.bitwise.left_shift(x, s)
tf.bitwise.right_shift(x, s)
tf.where([True, False, True], x, s)
tf.pad(x, [[1, 1]], constant_values=s)
tf.one_hot([0], 2, s, 0, dtype=dt)
tf.tensor_scatter_nd_update(x, [[0]], [s])
tf.concat([x, [s]], 0)
tf.Variable(x) + s
tf.cast(x, tf.float32) + s
"""
COMPILED = """
x + s
x / s
x == s
tf.maximum(x, s)
tf.clip_by_value(x, 0, s)
tf.where([True, False, True], x, s)
tf.pad(x, [[1, 1]], constant_values=s)
x * s + s
"""
NUMBERS = (-1, 127, 128, 255, 256, 300, -129, 65536, 2 ** 31, 2 ** 40, 2 ** 63 - 1, -2 ** 63, 2 ** 63)


def _outcome(tf, code, dtype, number, compiled=False):
    dt = getattr(tf, dtype)
    names = {"tf": tf, "dt": dt, "s": number}
    x = tf.constant([0, 1, 100], dt)
    try:
        made = tf.function(lambda x: eval(code, dict(names, x=x)))(x) if compiled else eval(code, dict(names, x=x))
        return made.dtype.name, made.numpy().ravel().tolist()
    except (ValueError, TypeError, RuntimeError, tf.errors.OpError) as error:
        return error


def _compare(code, dtype, numbers, compiled=False):
    for number in numbers:
        told = _outcome(genuine.tf, code, dtype, number, compiled)
        mine = _outcome(dragon_tf, code, dtype, number, compiled)
        said = f"s = {number}: genuine {told!r}, Dragon {mine!r}"
        assert isinstance(told, Exception) == isinstance(mine, Exception), said
        if not isinstance(told, Exception):
            assert mine[0] == told[0], said
            assert mine[1] == pytest.approx(told[1], rel=1e-6, nan_ok=True), said


@each("dtype", ["uint8", "int8", "int32"])
@each("code", rows(CALLS))
def test_the_value_or_a_refusal(code, dtype):
    _compare(code, dtype, NUMBERS)


@pytest.mark.parametrize("code", rows(COMPILED))
def test_compiled(code):
    _compare(code, "int8", (-1, 128, 300, -129), compiled=True)
