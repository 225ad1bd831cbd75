"""Arguments that name what is not there, or have no end, are refused: here as by genuine TensorFlow."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.subresults import each
from harness.twin import rows

REFUSALS = (ValueError, TypeError, IndexError)
A = np.arange(6, dtype="float32").reshape(2, 3)
CALLS = """
tf.tensordot(a, a, [[5], [3]])
tf.tensordot(a, a, [[-3], [-3]])
tf.norm(a, axis=(5, 2), ord=1)
tf.norm(a, axis=(0, 0), ord=1)
tf.concat([ragged, ragged], axis=7)
tf.expand_dims(ragged, axis=7)
tf.stack([ragged, ragged], axis=-4)
tf.linalg.band_part(a, 3, 0)
tf.linalg.band_part(a, 0, 4)
tf.nn.space_to_depth(tf.ones([1, 2, 3, 1]), 2)
tf.nn.space_to_depth(tf.ones([1, 2, 2, 0]), 2 ** 31)
tf.nn.space_to_depth(tf.ones([1, 2, 2, 1]), 1)
tf.nn.depth_to_space(tf.ones([1, 2, 2, 3]), 2)
tf.nn.depth_to_space(tf.ones([1, 2, 2, 4]), 2, "none")
tf.math.xlogy(tf.ones([2]), tf.TensorSpec([2]))
tf.ragged.range(0, 3, 0)
tf.unravel_index(tf.constant(["a"]), [2])
tf.strings.as_string(1.5, width=2 ** 40)
tf.lookup.TextFileInitializer(tf.ones([2]), tf.int64, 0, tf.int64, 1)
tf.train.Feature().CopyFrom(tf.train.Example())
tf.train.Feature().MergeFrom(3)
tf.train.Feature().ParseFromString(1000)
tf.constant(Box([1, 2]))
tf.gather_nd(a, [[0.9, 0]])
tf.scatter_nd([[0.5]], [1.0], [3])
tf.tensor_scatter_nd_update(a, [[0.5, 0]], [1.0])
tf.tensor_scatter_nd_max(a, [[0.5, 0]], [1.0])
tf.math.segment_sum(a, [0.0, 0.9])
tf.math.unsorted_segment_sum(a, [0.0, 0.9], 3)
tf.nn.embedding_lookup(a, [0.5])
tf.dynamic_partition(a, [0.0, 1.0], 2)
tf.reverse_sequence(a, [1.5, 1.0], 1)
tf.repeat(a, 1.5, axis=0)
tf.one_hot([0.9], 3)
tf.one_hot([1], 2.5)
tf.eye(2.5)
tf.linspace(0.0, 1.0, 2.5)
tf.math.top_k(a, 1.5)
tf.constant(1.0) + Box(3)
"""


class Box:
    """An object whose array is none."""

    def __init__(self, answer):
        self.answer = answer

    def __array__(self, dtype=None, copy=None):
        return self.answer


@each("code", rows(CALLS))
def test_refused(code):
    for tf in (genuine.tf, ours):
        refusals = (*REFUSALS, tf.errors.OpError)
        with pytest.raises(refusals):
            eval(code, {"tf": tf, "a": A, "Box": Box, "ragged": tf.ragged.constant([[1], [2, 3]])})


def endless():
    """Return lists that hold themselves, alone or beside others, and one that is nested too deeply."""
    alone, beside, text, deep = [], [1.0], ["a"], 1.0
    alone.append(alone)
    beside.append(beside)
    text.append(text)
    for _ in range(100):
        deep = [deep]
    return {"alone": alone, "beside": beside, "text": text, "deep": deep}


@pytest.mark.parametrize("name", endless())
def test_lists_that_hold_themselves(name):
    value = endless()[name]
    for function in (ours.constant, ours.Variable, ours.negative, ours.stack, lambda x: ours.reshape(x, [1]),
                     ours.data.Dataset.from_tensor_slices, ours.strings.join, lambda x: ours.constant([1.0]) + x):
        with pytest.raises((ValueError, TypeError)):
            function(value)
