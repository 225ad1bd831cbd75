"""Batch norm on the device: channels of one part and of many, both layouts, packs and single elements."""
import numpy
import pytest

import dragon
from harness.devices import agree

SHAPES = [(2, 3, 5, 7), (3, 2, 5000), (2, 40, 30, 31), (300, 5), (1, 1, 9), (2, 64, 4, 4), (5, 2, 1, 1)]
TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3}


def noise(*shape):
    """Return the same noise in every run, far from zero."""
    return numpy.random.default_rng(sum(shape)).standard_normal(shape).astype(numpy.float32) + 3


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_training(dtype, shape, channels_last):
    """Results, statistics, and gradients through them."""
    c = shape[1]
    agree(lambda x, w, b: dragon.ops.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5),
          [noise(*shape), noise(c), noise(c)], dtype, channels_last, TOLERANCE[dtype])

    def backward(dy, x, w):
        statistics = dragon.float64 if dtype == "float64" else dragon.float32
        mean = dragon.ops.cast(dragon.ops.mul(w, 1.0), statistics)
        return dragon.ops.batch_norm_backward(dy, x, mean, mean, w, True, True, True, True)
    agree(backward, [noise(*shape), noise(*shape), noise(c)], dtype, channels_last, TOLERANCE[dtype])


def test_far_from_zero():
    """A mean of a million deviations costs no more digits than it has to."""
    x = (numpy.random.default_rng(0).standard_normal((2, 3, 4000)) + 1e4).astype(numpy.float32)
    agree(lambda x: dragon.ops.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)[2], [x], tolerance=1e-4)


def test_infinite():
    """A channel with an infinity has no deviation; others do not notice."""
    x = noise(2, 3, 40)
    x[0, 1, 3] = numpy.inf
    agree(lambda x: dragon.ops.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5), [x])
