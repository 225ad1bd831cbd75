"""`ignore_errors` leaves out elements that fail, and no others, wherever in a pipeline they fail."""
import time

import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import tensorflow as ours


def check(tf, slow=0.0):
    """Return a function that fails for 3 and 11, which takes a while in Dragon: genuine ones run as graphs."""
    def call(x):
        if tf is ours:
            time.sleep(slow)
        y = tf.cast((x - 3) * (x - 11), tf.float32)
        tf.debugging.check_numerics(1.0 / y, "a division by zero")
        return x
    return call


PIPELINES = {
    "map": lambda tf, data: data.map(check(tf)),
    "threads": lambda tf, data: data.map(check(tf, 0.001), num_parallel_calls=4),
    "threads over what fails": lambda tf, data: data.map(check(tf)).map(lambda x: x + 1, num_parallel_calls=4),
    "slow threads over what fails": lambda tf, data: data.map(check(tf)).map(
        lambda x: (time.sleep(0.001), x)[1], num_parallel_calls=4),
    "prefetch": lambda tf, data: data.map(check(tf)).prefetch(2),
    "slow prefetch": lambda tf, data: data.map(check(tf, 0.001)).prefetch(tf.data.AUTOTUNE),
    "filter": lambda tf, data: data.filter(lambda x: check(tf)(x) % 2 == 0),
    "batch": lambda tf, data: data.map(check(tf)).batch(2),
    "batch of threads": lambda tf, data: data.map(check(tf, 0.001), num_parallel_calls=2).batch(2).prefetch(2),
    "last batch": lambda tf, data: data.map(check(tf)).batch(4, drop_remainder=True),
}


@each("name", PIPELINES)
def test_other_elements_stay(name):
    found = [[x.tolist() for x in PIPELINES[name](tf, tf.data.Dataset.range(18)).ignore_errors().as_numpy_iterator()]
             for tf in (ours, genuine.tf)]
    assert found[0] == found[1]


def test_elements_before_a_failure_come_first():
    def generate():
        yield from range(12)
        raise ValueError("the end of it")
    dataset = ours.data.Dataset.from_generator(generate, output_signature=ours.TensorSpec((), ours.int64))

    def slow(x):
        time.sleep(0.001)
        return x
    for pipeline in (dataset.map(slow, 4), dataset.map(slow).prefetch(4)):
        seen = []
        with pytest.raises(ValueError, match="the end of it"):
            for x in pipeline:
                seen.append(int(x))
        assert seen == list(range(12))
