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


SCANS = [((30001,), 0), ((4096,), 0), ((5, 4096), 1), ((300, 512), 1), ((9, 510), 1), ((3, 20000), 1), ((2, 2056), 1),
         ((3, 20, 2048), 2), ((9000, 3), 0)]


def scanned(name, x, axis):
    """Return a scan's results as a list."""
    found = getattr(dragon.ops, name)(x, axis)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def compare_scans(name, shape, axis, dtype):
    """A scan is the CPU's, and the same in every run."""
    array = numpy.random.default_rng(7).integers(-3, 4, shape).astype("float32")
    if name == "cumprod":
        array = numpy.where(array > 2, -1, 1).astype("float32")
    elif "float" in dtype and name.startswith("cumm"):
        array.flat[array.size // 2] = numpy.nan
    x = dragon.ops.cast(dragon.tensor(array), dtype)
    there_x = dragon.ops.to_device(x, "cuda")
    wide = "complex128" if dtype.startswith("complex") else "float64"
    for mine, again, theirs in zip(*(scanned(name, item, axis) for item in (there_x, there_x, x)), strict=True):
        mine, again = (back(dragon.ops.cast(item, wide)) for item in (mine, again))
        numpy.testing.assert_array_equal(mine, again)
        theirs = numpy.asarray(dragon.ops.cast(theirs, wide))
        if name == "logcumsumexp":
            tolerance = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5}.get(dtype, 1e-10)
            numpy.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
        else:  # sums of whole numbers, which no order of adding changes
            numpy.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("shape, axis", SCANS)
@pytest.mark.parametrize("name, dtype", [("cumsum", "float32"), ("cumsum", "float16"), ("cumsum", "int64"),
                                         ("cumsum", "complex64"), ("cumprod", "float64"), ("cummax", "float32"),
                                         ("cummin", "int8"), ("logcumsumexp", "float32"), ("cummax", "bool")])
def test_scans(name, dtype, shape, axis):
    """Rows by warps, by blocks and in parts, at the borders of rounds."""
    compare_scans(name, shape, axis, dtype)


@pytest.mark.parametrize("offset", range(1, 5))
def test_scans_that_begin_anywhere(offset):
    """Rows that begin at no multiple of sixteen bytes, of which few are cut into parts."""
    x = numpy.random.default_rng(8).integers(-5, 5, 20000)
    view = dragon.ops.slice(there(x.astype("float32")), 0, offset, 19000 + offset)
    numpy.testing.assert_array_equal(back(dragon.ops.cumsum(view, 0)), x[offset:19000 + offset].cumsum())


def test_large_scans(simt):
    """Millions of elements, of one row, of a few and of many."""
    if simt:
        pytest.skip("large")
    for shape in ((1 << 22 | 5,), (1 << 22,), (6, 1 << 19), (1 << 12, 4096), (1 << 16, 256), (1 << 18, 40)):
        for name, dtype in (("cumsum", "float32"), ("cumsum", "bfloat16"), ("cummax", "float32"), ("cumsum", "int64")):
            compare_scans(name, shape, len(shape) - 1, dtype)


@pytest.mark.parametrize("to", ["bfloat16", "float16"])
def test_every_half(to):
    """All halves become floats and halves again, and floats between two of them go to the even one, as on the CPU."""
    every = numpy.arange(1 << 16, dtype="uint16").view("int16")
    floats = numpy.asarray(dragon.ops.cast(dragon.ops.view_dtype(dragon.tensor(every), to), "float32"))
    floats = floats[numpy.isfinite(floats)]
    between = (floats[:-1] + (floats[1:] - floats[:-1]) / 2)
    for x in (floats, between, numpy.float32([numpy.inf, -numpy.inf, numpy.nan, 3.4e38, -3.4e38, 1e-45, -0.0])):
        found = back(dragon.ops.cast(dragon.ops.cast(there(x), to), "float32"))
        wanted = numpy.asarray(dragon.ops.cast(dragon.ops.cast(dragon.tensor(x), to), "float32"))
        numpy.testing.assert_array_equal(found, wanted)
        numpy.testing.assert_array_equal(numpy.signbit(found)[x == x], numpy.signbit(wanted)[x == x])
