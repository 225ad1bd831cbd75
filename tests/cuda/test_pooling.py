"""Pooling on the device: layouts, strange numbers, overlapping windows, and indices that name one place many times."""
import numpy
import pytest

import dragon
from harness.devices import agree, both, results, tensor


def noise(*shape):
    """Return the same noise in every run."""
    return numpy.random.default_rng(sum(shape)).standard_normal(shape).astype(numpy.float32)


def with_strange(*shape):
    """Return noise with some NaN, and a corner of nothing but -inf."""
    x = noise(*shape)
    x.reshape(-1)[::37] = numpy.nan
    x[..., :3, :3] = -numpy.inf
    return x


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_max(dtype, channels_last):
    """Values and places, with overlap, padding and dilation."""
    agree(lambda x: dragon.ops.max_pool_with_indices(x, [8, 6], [3, 2], [2, 2], [1, 1], [1, 2], False),
          [with_strange(2, 35, 16, 12)], dtype, channels_last, 0)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("adaptive, size", [(False, [4, 5, 3]), (True, [3, 4, 5])])
@pytest.mark.parametrize("count_include_pad, divisor", [(True, 0), (False, 0), (True, 7)])
def test_average(channels_last, adaptive, size, count_include_pad, divisor):
    """Means over three axes, and their gradients, which are gathered from overlapping windows."""
    more = ([3, 2, 3], [2, 1, 2], [1, 0, 1], [1, 1, 1], adaptive, count_include_pad, divisor)
    agree(lambda x: dragon.ops.average_pool(x, size, *more), [noise(2, 5, 7, 6, 5)], None, channels_last)
    agree(lambda dy: dragon.ops.average_pool_backward(dy, [7, 6, 5], *more), [noise(2, 5, *size)], None, channels_last)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_shared_places(dtype, channels_last):
    """Elements that go to one place are added in the order in which they lie: to the last bit as on the CPU."""
    indices = numpy.random.default_rng(3).integers(-1, 5, (2, 33, 6, 7))
    wanted, got = both(lambda dy, at: dragon.ops.max_pool_backward(dy, at, [4, 5]), [noise(2, 33, 6, 7), indices],
                       dtype, channels_last)
    numpy.testing.assert_array_equal(got[0], wanted[0])


def test_last_stays():
    """Of elements that are placed in one place, the last one stays."""
    indices = numpy.random.default_rng(3).integers(0, 9, (2, 3, 6, 7))
    agree(lambda x, at: dragon.ops.max_unpool(x, at, [3, 5]), [noise(2, 3, 6, 7), indices], tolerance=0)


def test_wrong_places():
    """Indices outside of a plane write nowhere."""
    indices = numpy.array([[[0, 99, -7, 2, 1 << 40]]])
    x = tensor(numpy.arange(1.0, 6.0, dtype=numpy.float32).reshape(1, 1, 5), device="cuda")
    y = dragon.ops.max_pool_backward(x, tensor(indices, device="cuda"), [4])
    numpy.testing.assert_array_equal(results(y)[0], [[[1, 0, 4, 0]]])
