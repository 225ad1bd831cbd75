"""Convolutions on the device: sizes beyond a block, both layouts, uneven padding, all three passes."""
import numpy
import pytest

import dragon
from harness.devices import agree, both

TOLERANCE = {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}


def noise(*shape):
    """Return the same noise in every run."""
    return numpy.random.default_rng(sum(shape)).standard_normal(shape).astype(numpy.float32)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_forward(dtype, channels_last):
    """Groups, strides, dilation and padding that differ by axis."""
    agree(lambda x, w, b: dragon.ops.conv(x, w, b, stride=[2, 1], padding=[1, 2], dilation=[1, 2], groups=2),
          [noise(2, 6, 13, 11), noise(10, 3, 3, 2), noise(10)], dtype, channels_last, TOLERANCE[dtype])


@pytest.mark.parametrize("padding, after", [([0, 1], [1, 2]), ([2, 3], [0, 0]), ([0, 0], [4, 5])])
def test_uneven_padding(padding, after):
    """Padding after the last element may be more or less than before the first."""
    agree(lambda x, w: dragon.ops.conv(x, w, padding=padding, padding_after=after, stride=2),
          [noise(2, 3, 7, 8), noise(4, 3, 2, 3)])


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_gradients(spatial, channels_last):
    """The gradients by input and weights, of windows that step over elements, and leave some out at the end."""
    size, window = [9, 8, 6][:spatial], [3, 2, 2][:spatial]
    out = [(n - (k - 1) * 2 + 2 - 1) // 3 + 1 for n, k in zip(size, window)]
    ones = {"stride": [3] * spatial, "padding": [1] * spatial, "dilation": [2] * spatial, "groups": 2}
    x, w, dy = noise(2, 4, *size), noise(6, 2, *window), noise(2, 6, *out)
    agree(lambda dy, w: dragon.ops.conv_backward_data(dy, w, None, size, **ones), [dy, w], None, channels_last)
    agree(lambda dy, x: dragon.ops.conv_backward_weights(dy, x, window, **ones), [dy, x], None, channels_last)


def test_many_channels():
    """More channels than a block has threads, with one element each."""
    agree(lambda x, w, b: dragon.ops.conv(x, w, b), [noise(1, 300, 1, 1), noise(270, 300, 1, 1), noise(270)])


def test_strange_numbers():
    """NaN and infinities reach the windows that see them, and no others."""
    x = noise(1, 2, 6, 6)
    x[0, 0, 0, 0], x[0, 1, 5, 5] = numpy.nan, numpy.inf
    agree(lambda x, w: dragon.ops.conv(x, w), [x, noise(3, 2, 2, 2)])


def test_empty():
    """No pictures give no pictures, and weights whose gradient is zero."""
    wanted, got = both(lambda x, w: dragon.ops.conv(x, w), [noise(0, 2, 5, 5), noise(3, 2, 3, 3)])
    assert wanted[0].shape == got[0].shape == (0, 3, 3, 3)
    one = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1}
    agree(lambda dy, x: dragon.ops.conv_backward_weights(dy, x, [3, 3], **one), [noise(0, 3, 3, 3), noise(0, 2, 5, 5)])
