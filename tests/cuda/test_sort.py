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
