"""Reductions of sizes that cross the borders of packs, warps, blocks and parts, against NumPy."""
import numpy
import pytest

import dragon

SHAPES = [((1,), (0,)), ((33,), (0,)), ((5000,), (0,)), ((70000,), (0,)), ((3, 1025), (1,)), ((1025, 3), (0,)),
          ((40, 33), (0,)), ((300, 64), (0,)), ((2, 31, 5, 33), (1, 3)), ((2, 31, 5, 33), (0, 2)), ((0, 4), (0,)),
          ((4, 0), (0,)), ((9, 4099), (0, 1))]


def there(array):
    """Return an array as a tensor on the device."""
    return dragon.ops.to_device(dragon.from_numpy(numpy.ascontiguousarray(array)), "cuda")


def back(tensor):
    """Return a device tensor's numbers."""
    return numpy.asarray(dragon.ops.to_device(tensor, "cpu"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape, axes", SHAPES)
def test_sums(shape, axes, dtype):
    """Sums of all kinds of sizes."""
    rng = numpy.random.default_rng(1)
    x = (rng.standard_normal(shape) if dtype.startswith("float") else rng.integers(0, 2, shape)).astype(dtype)
    got = back(dragon.ops.sum(there(x), axes))
    wanted = x.sum(axes, dtype="float64" if dtype.startswith("float") else "int64")
    numpy.testing.assert_allclose(got, wanted, rtol=2e-3 if dtype == "float16" else 1e-5,
                                  atol=0.3 if dtype == "float16" else 1e-3)


@pytest.mark.parametrize("offset", range(5))
def test_rows_that_begin_anywhere(offset):
    """Reads of sixteen bytes need an address that is a multiple of them."""
    x = numpy.random.default_rng(2).standard_normal(3000).astype("float32")
    view = dragon.ops.slice(there(x), 0, offset, 2900 + offset)
    numpy.testing.assert_allclose(back(dragon.ops.sum(view)), x[offset:2900 + offset].sum(dtype="float64"), rtol=1e-4)


@pytest.mark.parametrize("shape, axis", [((70000,), 0), ((5, 3001), 1), ((3001, 40), 0), ((7, 33), 1)])
def test_places_of_extremes(shape, axis):
    """The first of equals, and NaN before all."""
    x = numpy.random.default_rng(3).integers(0, 50, shape).astype("float32")
    numpy.testing.assert_array_equal(back(dragon.ops.argmax(there(x), axis)), x.argmax(axis))
    numpy.testing.assert_array_equal(back(dragon.ops.argmin(there(x), axis)), x.argmin(axis))
    x.reshape(-1)[x.size // 2] = numpy.nan
    numpy.testing.assert_array_equal(back(dragon.ops.argmax(there(x), axis)), x.argmax(axis))


@pytest.mark.parametrize("shape", [(8, 8), (33, 65), (130, 70), (2, 40, 50), (3, 9, 2, 33)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "complex128"])
def test_transposed_copies(shape, dtype):
    """Tiles of all word sizes, whole and cut."""
    x = (numpy.random.default_rng(4).standard_normal(shape) * 50).astype("int8").astype(dtype)
    for order in (tuple(range(len(shape)))[::-1], (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)):
        got = back(dragon.ops.contiguous(dragon.ops.permute(there(x), order)))
        numpy.testing.assert_array_equal(got, x.transpose(order))


@pytest.mark.parametrize("to", ["float32", "bfloat16", "float16", "int64", "bool", "complex64", "uint8"])
@pytest.mark.parametrize("given", ["float32", "bfloat16", "float16", "int64", "bool", "uint8"])
def test_casts(given, to):
    """From every common dtype into every other, as on the CPU."""
    x = dragon.from_numpy(numpy.random.default_rng(5).integers(0, 100, 1003).astype("float32"))
    here = dragon.ops.cast(dragon.ops.cast(x, given), to)
    on_device = dragon.ops.cast(dragon.ops.cast(dragon.ops.to_device(x, "cuda"), given),
                                to)
    wide = "complex64" if to == "complex64" else "float64"
    numpy.testing.assert_array_equal(back(dragon.ops.cast(on_device, wide)), numpy.asarray(dragon.ops.cast(here, wide)))


def test_pointwise_over_many_axes():
    """More axes than a launch walks."""
    x = numpy.random.default_rng(6).standard_normal((2,) * 12).astype("float32")
    strided = dragon.ops.permute(there(x), tuple(range(12))[::-1])
    other = dragon.ops.permute(there(x), (1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10))
    wanted = x.transpose() + x.transpose(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10)
    numpy.testing.assert_array_equal(back(strided + other), wanted)


def test_numbers_of_the_host():
    """Many different numbers, more than a sheet of them holds."""
    x = there(numpy.ones(3, "float32"))
    for number in range(4200):
        y = x * (number + 0.5)
        if number % 300 == 0:
            numpy.testing.assert_array_equal(back(y), numpy.full(3, number + 0.5, "float32"))
    numpy.testing.assert_array_equal(back(y), numpy.full(3, 4199.5, "float32"))
