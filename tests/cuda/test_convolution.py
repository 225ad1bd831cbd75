"""Convolutions on the device: sizes beyond a block, both layouts, uneven padding, all three passes."""
import numpy
import pytest

import dragon
from dragon.vm import torch as dt
from harness.devices import agree, both, results, tensor

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


@pytest.mark.parametrize("switches", [{"enabled": False}, {"enabled": True, "benchmark": True}])
def test_switches_of_cudnn(switches):
    """Without cuDNN, and with its ways measured, results are those of the CPU."""
    flags = dict({"benchmark": False, "allow_tf32": False}, **switches)
    x, w = noise(2, 6, 9, 8), noise(4, 6, 3, 3)
    ways = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
    try:
        with dt.backends.cudnn.flags(**flags):
            for _ in range(2):  # measured, then remembered
                agree(lambda x, w: dragon.ops.conv(x, w, **ways), [x, w])
                agree(lambda dy, x: dragon.ops.conv_backward_weights(dy, x, [3, 3], **ways),
                      [noise(2, 4, 9, 8), x])
    finally:
        dragon._C.set_convolutions_allow_tf32(False)  # as the session has it


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


# --- every channel by itself

def depthwise(kernel, plane, batch=3, channels=40, multiplier=1, stride=1, padding=None, dilation=1, after=0):
    """Return x, weights, bias, a gradient, and the attributes of a convolution of every channel by itself."""
    kernel = [kernel] * 2 if isinstance(kernel, int) else kernel
    stride = [stride] * 2 if isinstance(stride, int) else stride
    before = [k // 2 for k in kernel] if padding is None else [padding] * 2
    out = [(n + 2 * p + after - (k - 1) * dilation - 1) // s + 1 for n, k, s, p in zip(plane, kernel, stride, before)]
    made = {"size": out, "stride": stride, "padding": before, "dilation": [dilation] * 2, "groups": channels}
    wide = channels * multiplier
    return noise(batch, channels, *plane), noise(wide, 1, *kernel), noise(wide), noise(batch, wide, *out), made


def all_passes(arrays, made, dtype="float32", layout=False, factor=1.0):
    """Hold that the result and both gradients are the host's, with a bias and without."""
    x, w, bias, dy, tolerance = *arrays, TOLERANCE[dtype] * factor
    ops, rest = dragon.ops, {name: value for name, value in made.items() if name != "size"}
    if min(made["size"]) < 1:
        pytest.skip("no window fits")
    agree(lambda x, w: ops.conv_forward(x, w, None, **made), [x, w], dtype, layout, tolerance)
    agree(lambda x, w, b: ops.conv_forward(x, w, b, **made), [x, w, bias], dtype, layout, tolerance)
    back = {**rest, "size": x.shape[2:]}
    agree(lambda dy, w: ops.conv_backward_data(dy, w, None, **back), [dy, w], dtype, layout, tolerance)
    agree(lambda dy, w, b: ops.conv_backward_data(dy, w, b, **back), [dy, w, bias[:x.shape[1]]], dtype, layout,
          tolerance)
    back = {**rest, "size": w.shape[2:]}
    agree(lambda dy, x: ops.conv_backward_weights(dy, x, **back), [dy, x], dtype, layout, tolerance)


@pytest.mark.parametrize("layout", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_depthwise(kernel, stride, dtype, layout):
    """Windows that have kernels of their own, in all dtypes and layouts, with strips that end outside of planes."""
    *arrays, made = depthwise(kernel, [9, 16], stride=stride)
    all_passes(arrays, made, dtype, layout)


@pytest.mark.parametrize("plane", [[1, 1], [1, 9], [2, 3], [7, 7], [14, 14], [20, 33]])
@pytest.mark.parametrize("kernel, stride", [(1, 1), (3, 1), (3, 2), (3, 3), (4, 1), (5, 1), (5, 2), (7, 1), (7, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_depthwise_planes(dtype, kernel, stride, plane):
    """Planes smaller than a window, such as have whole strips only, and large ones."""
    *arrays, made = depthwise(kernel, plane, batch=1 if plane[0] > 14 else 3, channels=33, stride=stride)
    all_passes(arrays, made, dtype, dtype != "float16")


@pytest.mark.parametrize("multiplier", [2, 3])
@pytest.mark.parametrize("padding", [0, 1, 2, 4, 9])
@pytest.mark.parametrize("kernel, stride", [(3, 1), (3, 2), (5, 2), (7, 1)])
def test_depthwise_padding(kernel, stride, padding, multiplier):
    """Several results of a channel, and paddings of which some are wider than windows."""
    for dtype in ["bfloat16", "float16"]:
        for factor in [1, multiplier]:
            *arrays, made = depthwise(kernel, [8, 11], 2, 6, factor, stride, padding, after=1)
            all_passes(arrays, made, dtype, dtype != "float16")


@pytest.mark.parametrize("kernel, stride, dilation", [([3, 5], 1, 1), ([1, 7], 1, 1), (3, [2, 1], 1), (3, 1, 2),
                                                      (5, 2, 3), ([4, 2], 3, 1)])
def test_depthwise_otherwise(kernel, stride, dilation):
    """Rectangles, gaps and strides that differ by axis, which go elsewhere."""
    *arrays, made = depthwise(kernel, [12, 13], 2, 5, 1, stride, None, dilation)
    all_passes(arrays, made)


@pytest.mark.parametrize("batch, channels, plane", [(4, 36, [21, 22]), (1, 2, [700, 700])])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_depthwise_repeats(dtype, batch, channels, plane):
    """The same bits in every run, and sums over many places, in one block or in many, that are double precision's."""
    x, _, _, dy, made = depthwise(5, plane, batch, channels, 1, 2)
    made["size"] = [5, 5]
    x, dy = x.astype(dtype).astype("float32"), dy.astype(dtype).astype("float32")

    def run(device, dtype):
        on = [tensor(array, dtype, dtype == "float32", device) for array in [dy, x]]
        return results(dragon.ops.conv_backward_weights(*on, **made))[0]
    first, exact = run("cuda", dtype), run("cpu", "float64")
    assert all(numpy.array_equal(first, run("cuda", dtype)) for _ in range(2))
    numpy.testing.assert_allclose(first, exact, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * abs(exact).max())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_depthwise_of_any_strides(dtype):
    """Operands whose channels and columns are not neighbours, and a gradient that repeats one number."""
    x, w, _, dy, made = depthwise(3, [10, 12], 2, 6)
    turned = {"axes": [0, 1, 3, 2]}
    agree(lambda x, w: dragon.ops.conv_forward(dragon.ops.permute(x, **turned), dragon.ops.permute(w, **turned), None,
                                               **made), [x.swapaxes(2, 3), w], dtype, False, TOLERANCE[dtype])
    made["size"] = [3, 3]
    for shape in [[1, 1, 1, 1], [1, 6, 1, 1], [2, 1, 10, 1]]:
        agree(lambda dy, x: dragon.ops.conv_backward_weights(dragon.ops.broadcast_to(dy, [2, 6, 10, 12]), x, **made),
              [noise(*shape), x], dtype, False, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_depthwise_strange_numbers(dtype):
    """What is not finite reaches the sums that it is part of, and no others, whatever lies beyond the plane."""
    x, w, _, dy, made = depthwise(3, [9, 9], 2, 4, padding=0)
    x[0, 0, 8, 8], x[1, 1, 7, 7], x[0, 2, 0, 0] = numpy.inf, numpy.nan, -numpy.inf
    agree(lambda x, w: dragon.ops.conv_forward(x, w, None, **made), [x, w], dtype, dtype == "float32", TOLERANCE[dtype])
    agree(lambda dy, x: dragon.ops.conv_backward_weights(dy, x, **{**made, "size": [3, 3]}), [dy, x], dtype,
          dtype == "float32", TOLERANCE[dtype])


def test_depthwise_many_strips():
    """A plane of so many strips that every warp takes several."""
    x, w, _, _, made = depthwise(3, [700, 700], 1, 2)
    agree(lambda x, w: dragon.ops.conv_forward(x, w, None, **made), [x, w], "float32", True)


def test_depthwise_empty():
    """No pictures."""
    *arrays, made = depthwise(3, [5, 5], 0, 4)
    all_passes(arrays, made)
