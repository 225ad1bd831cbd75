"""Steps of Python in graphs: captures of one program keep no more of them than one."""
import contextlib
import gc
import io
import weakref

import pytest

from dragon.core.capture import host_calls
from dragon.vm import tensorflow as tf


def count():
    """Return how many functions graphs may call."""
    return len(host_calls._functions)


def work(scale):
    """Claim, print and call Python."""
    def graph(x):
        tf.debugging.assert_less(x, 100.0, message="small")
        tf.debugging.Assert(tf.reduce_sum(x) < 1e6, [x, "sum"])
        tf.debugging.check_numerics(x, "numbers")
        tf.print("x is", x, {"scale": scale}, [1.5, None], output_stream="file:///dev/null")
        tf.py_function(list, [x], [])
        return x * scale
    return tf.function(graph)


def test_captures_of_one_program_keep_one_step():
    work(2.0)(tf.ones((3,)))
    before = count()
    for _ in range(5):
        work(2.0)(tf.ones((3,)))
    assert count() == before
    work(3.0)(tf.ones((3,)))  # another text is printed
    assert count() == before + 1


def test_a_claim_that_fails_while_it_is_traced_keeps_nothing():
    graph = tf.function(lambda x: tf.debugging.assert_less(x, 0.0))
    counts = []
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="x < y"):
            graph(tf.constant(1.0))
        counts.append(count())
    assert len(set(counts)) == 1


def test_steps_do_not_hold_what_was_traced():
    x = tf.ones((1000,))
    held = weakref.ref(x)
    work(4.0)(x)
    del x
    gc.collect()
    assert held() is None


def test_each_stream_is_its_own():
    """A later capture prints into the stream of its time."""
    texts = []
    for _ in range(3):
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream):
            tf.function(lambda x: tf.print("so", x))(tf.constant(1))
        texts.append(stream.getvalue())
    assert texts == ["so 1\n"] * 3
