"""Ordering on the device: lines around tiles and merges, NaN and ties, odd strides."""
import numpy
import pytest

import dragon


def there(array):
    """Return an array on the device."""
    return dragon.ops.to_device(dragon.tensor(array), "cuda")


def back(x):
    """Return a tensor's numbers."""
    return numpy.array(dragon.ops.to_device(x, "cpu").numpy())


def line(size, dtype):
    """Return numbers with ties, and with NaN and both zeros among floats."""
    array = numpy.random.default_rng(size).integers(-9, 9, size).astype(dtype)
    if array.dtype.kind == "f" and size > 5:
        array[::5] = numpy.nan
        array[1], array[3] = 0.0, -0.0
    return array


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8"])
@pytest.mark.parametrize("size", [1, 2, 33, 1025, 2049, 9001])
def test_sort(size, dtype):
    """Values and places are the CPU's, both ways."""
    array = line(size, dtype)
    for descending in (False, True):
        wanted = dragon.ops.sort(dragon.tensor(array), 0, descending)
        found = dragon.ops.sort(there(array), 0, descending)
        for mine, theirs in zip(found, wanted) if isinstance(wanted, (tuple, list)) else [(found, wanted)]:
            numpy.testing.assert_array_equal(back(mine), theirs.numpy())


@pytest.mark.parametrize("size", [5, 2048, 5001])
def test_choices(size):
    """topk, kthvalue, median and mode of lines along either axis."""
    array = numpy.stack([line(size, "float32") for _ in range(3)])
    for name, more in (("topk", (3,)), ("kthvalue", (2,)), ("median_axis", ()), ("nanmedian_axis", ()), ("mode", ())):
        for axis in (1, 0):
            x = dragon.ops.transpose(there(array), 0, 1) if axis == 0 else there(array)
            y = dragon.ops.transpose(dragon.tensor(array), 0, 1) if axis == 0 else dragon.tensor(array)
            found, wanted = (getattr(dragon.ops, name)(item, *more, axis) for item in (x, y))
            for mine, theirs in zip(found, wanted, strict=True):
                numpy.testing.assert_array_equal(back(mine), theirs.numpy(), err_msg=name)


@pytest.mark.parametrize("size", [1, 300, 5000])
def test_counts(size):
    """Histograms with and without weights, in shared memory and beyond it."""
    array = numpy.random.default_rng(0).integers(0, 7, size)
    weights = numpy.random.default_rng(1).normal(size=size)
    for length in (0, 5000):
        found = back(dragon.ops.bincount(there(array), minlength=length))
        numpy.testing.assert_array_equal(found, numpy.bincount(array, minlength=length))
    found = back(dragon.ops.bincount(there(array), there(weights)))
    numpy.testing.assert_allclose(found, numpy.bincount(array, weights), rtol=1e-12, atol=1e-12)


def test_searching():
    """searchsorted and isin find what NumPy finds."""
    edges = numpy.sort(numpy.random.default_rng(0).normal(size=3000)).astype("float32")
    values = numpy.concatenate([edges[::7], numpy.float32([-9, 9, numpy.nan])])
    for right in (False, True):
        found = back(dragon.ops.searchsorted(there(edges), there(values), right=right))
        numpy.testing.assert_array_equal(found, numpy.searchsorted(edges, values, "right" if right else "left"))
    found = back(dragon.ops.isin(there(values), there(edges[::14])))
    numpy.testing.assert_array_equal(found, numpy.isin(values, edges[::14]))


def same(found, wanted):
    """Compare two results of several tensors: values with their signs, and places."""
    for mine, theirs in zip(found, wanted, strict=True):
        mine, theirs = back(dragon.ops.cast(mine, "float64")), dragon.ops.cast(theirs, "float64").numpy()
        numpy.testing.assert_array_equal(mine, theirs)
        is_number = theirs == theirs
        numpy.testing.assert_array_equal(numpy.signbit(mine[is_number]), numpy.signbit(theirs[is_number]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "uint8", "int16", "int64", "bool"])
@pytest.mark.parametrize("shape, axis", [((20011,), 0), ((7, 2500), 1), ((2500, 7), 0), ((2, 3, 3001), 2)])
def test_digits(shape, axis, dtype, simt):
    """What is too much for merges is sorted by digits, all lines at once."""
    array = line(int(numpy.prod(shape)), "float32" if "float" in dtype else "int64").reshape(shape)
    if dtype in ("float64", "int64"):  # digits of both halves of a key
        array = array * 2**33 + numpy.random.default_rng(1).integers(-4, 4, shape) if dtype == "int64" else array / 3
    x = dragon.ops.cast(dragon.tensor(numpy.abs(array) if dtype == "uint8" else array), dtype)
    there_x = dragon.ops.to_device(x, "cuda")
    for descending in (False, True) if "float" in dtype or not simt else (False,):
        same(dragon.ops.sort(there_x, axis, descending), dragon.ops.sort(x, axis, descending))
    same(dragon.ops.topk(there_x, 5, axis), dragon.ops.topk(x, 5, axis))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choices_among_many(dtype):
    """kthvalue, median and mode of lines that are sorted by digits."""
    array = line(21000, dtype).reshape(3, 7000)
    for name, more in (("kthvalue", (2,)), ("median_axis", ()), ("nanmedian_axis", ()), ("mode", ())):
        found, wanted = (getattr(dragon.ops, name)(item, *more, 1) for item in (there(array), dragon.tensor(array)))
        same(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_groups_and_weights_of_many(dtype):
    """unique, isin, bincount with weights and randperm sort by digits, too."""
    array = line(20011, dtype)
    numbers = numpy.abs(numpy.nan_to_num(array)).astype("int64")
    weights = numpy.random.default_rng(1).normal(size=array.size)
    found = back(dragon.ops.bincount(there(numbers), there(weights)))
    numpy.testing.assert_allclose(found, numpy.bincount(numbers, weights), rtol=1e-9, atol=1e-9)
    some = array[:20000:1000]
    numpy.testing.assert_array_equal(back(dragon.ops.isin(there(some), there(array[1:]))), numpy.isin(some, array[1:]))
    same(dragon.ops.unique(there(array)), dragon.ops.unique(dragon.tensor(array)))


def test_large_sorts(simt):
    """Millions of elements, in one line, in a few and in many: the same as on the CPU, and the same again."""
    if simt:
        pytest.skip("large")
    rng = numpy.random.default_rng(3)
    for shape in ((1 << 24 | 3,), (5, 1 << 20), (1 << 12, 3000), (1 << 20, 33)):
        array = rng.standard_normal(shape).astype("float32").round(3)
        for dtype in ("float32", "float64", "bfloat16"):
            x = dragon.ops.cast(dragon.tensor(array), dtype)
            there_x = dragon.ops.to_device(x, "cuda")
            found = dragon.ops.sort(there_x, -1, True)
            same(found, dragon.ops.sort(x, -1, True))
            for first, again in zip(found, dragon.ops.sort(there_x, -1, True), strict=True):
                numpy.testing.assert_array_equal(back(dragon.ops.cast(first, "float64")),
                                                 back(dragon.ops.cast(again, "float64")))
