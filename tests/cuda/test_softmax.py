"""Softmax and norms on the device: rows that a warp holds, that a block holds, and that neither can; odd alignments."""
import numpy
import pytest

import dragon
from harness import engine

# Of a float, 8 numbers a lane: 256 of a warp, 8,192 of a block; then 32 of each, or 16; longer rows are walked.
LENGTHS = [1, 33, 256, 513, 1028, 2050, 8200, 33001]
TOLERANCE = {"float32": 3e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 2e-2}


def tensor(array, dtype, device):
    """Return a tensor of that dtype on a device."""
    return dragon.ops.to_device(dragon.ops.cast(dragon.from_numpy(array), getattr(dragon, dtype)), device)


def compared(function, dtype, *arrays, room=None):
    """Assert that a function gives on the device what it gives on the CPU."""
    results = []
    for device in ("cuda", "cpu"):
        found = function(*[None if x is None else tensor(x, dtype, device) for x in arrays])
        found = [found] if engine.is_tensor(found) else found
        results.append([engine.array(dragon.ops.to_device(x, "cpu")).astype("float64") for x in found])
    for mine, theirs in zip(*results, strict=True):
        most = max(1.0, float(numpy.abs(theirs[numpy.isfinite(theirs)]).max(initial=0)))
        numpy.testing.assert_allclose(mine, theirs, rtol=0, atol=(room or TOLERANCE[dtype]) * most)


def numbers(*shape, seed=0):
    """Return normal numbers."""
    return numpy.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("n", LENGTHS)
def test_softmax_rows(device, name, n):
    """Rows of all lengths, forward and backward."""
    x, dy = 4 * numbers(3, n), numbers(3, n, seed=1)
    forward = getattr(dragon.ops, name)
    backward = getattr(dragon.ops, name + "_backward")
    compared(lambda x, dy: [forward(x, -1), backward(dy, forward(x, -1), -1)], "float32", x, dy)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("n", [40, 1032, 1033])
def test_softmax_dtypes(device, dtype, n):
    """Other dtypes, with rows that can be read sixteen bytes at a time and rows that cannot."""
    compared(lambda x: [dragon.ops.softmax(x, -1), dragon.ops.log_softmax(x, -1)], dtype, 4 * numbers(2, n))


@pytest.mark.parametrize("shape, axis", [((3, 5, 70), 1), ((2, 1000, 3), 1), ((300, 2), 0), ((2, 3, 4, 5), 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_columns(device, name, shape, axis):
    """An axis that is not the last."""
    forward = getattr(dragon.ops, name)
    backward = getattr(dragon.ops, name + "_backward")
    compared(lambda x, dy: [forward(x, axis), backward(dy, forward(x, axis), axis)], "float32", numbers(*shape),
             numbers(*shape, seed=1))


@pytest.mark.parametrize("n, axis", [(5, 1), (1500, 1), (40000, 1), (5, 0)])
def test_softmax_of_extremes(device, n, axis):
    """Infinities and NaN give what they give on the CPU, and stay in their line."""
    x = numbers(4, n)
    x[0, 1], x[1, 2], x[2, :], x[3, :4] = numpy.nan, numpy.inf, -numpy.inf, -numpy.inf
    x = numpy.ascontiguousarray(x if axis == 1 else x.T)
    compared(lambda x: [dragon.ops.softmax(x, axis), dragon.ops.log_softmax(x, axis)], "float32", x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("rows, n", [(3, 5), (200, 40), (2, 1032), (2, 20000)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(device, dtype, rows, n, affine):
    """Rows of all lengths with a large mean, and gradients of the parameters over many rows."""
    x, dy, weight, bias = numbers(rows, n) + 5, numbers(rows, n, seed=1), numbers(n, seed=2), numbers(n, seed=3)

    def norm(x, dy, weight, bias):
        y, mean, rstd = dragon.ops.native_layer_norm(x, [n], weight, bias, 1e-5)
        rms, scale = dragon.ops.native_rms_norm(x, [n], weight, 1e-5)
        return [y, mean, rstd, rms, scale,
                *dragon.ops.layer_norm_backward(dy, x, mean, rstd, weight, [n], True, True, True),
                *dragon.ops.rms_norm_backward(dy, x, scale, weight, [n], True, weight is not None)]
    room = {"float32": 2e-5, "float64": 1e-12}.get(dtype)
    compared(norm, dtype, x, dy, weight if affine else None, bias if affine else None, room=room)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape, groups", [((2, 6, 5, 7), 3), ((1, 4, 64), 2), ((2, 4, 3000), 1)])
def test_group_norm(device, dtype, shape, groups):
    """Groups of several channels, with planes that can be read sixteen bytes at a time and planes that cannot."""
    def norm(x, weight, bias):
        return dragon.ops.group_norm(x, groups, weight, bias, 1e-5)
    room = 1e-5 if dtype == "float32" else None
    compared(norm, dtype, numbers(*shape) + 3, numbers(shape[1], seed=1), numbers(shape[1], seed=2), room=room)
