"""A device from outside the engine: data goes there and back, and what it cannot do is said by name."""
import gc
import pathlib

import numpy
import pytest

import dragon


@pytest.fixture(scope="module")
def fake():
    """Load the fake device, whose addresses fault when the host touches them."""
    folder = pathlib.Path(dragon._C.library_folder())
    if dragon._C.device_count("fake") == 0:
        dragon.load_library(str(folder / "libdragon_fake.so"))
    return "fake:1"


def test_numbers_go_there_and_back(fake):
    array = numpy.random.default_rng(0).standard_normal((7, 5)).astype("float32")
    there = dragon.ops.to_device(dragon.from_numpy(array.copy()), fake)
    assert str(there.device) == fake and there.shape == (7, 5)
    back = dragon.ops.to_device(there, "cpu")
    numpy.testing.assert_array_equal(numpy.asarray(back), array)
    other = dragon.ops.to_device(there, "fake:0")
    numpy.testing.assert_array_equal(numpy.asarray(dragon.ops.to_device(other, "cpu")), array)
    again = dragon.ops.to_device(there, fake)
    numpy.testing.assert_array_equal(numpy.asarray(dragon.ops.to_device(again, "cpu")), array)


def test_its_memory_is_counted_and_comes_back(fake):
    gc.collect()
    before = dragon.memory_stats(fake)["current"]
    x = dragon.ops.to_device(dragon.ones((1000,)), fake)
    assert dragon.memory_stats(fake)["current"] - before == 4000
    del x
    gc.collect()
    assert dragon.memory_stats(fake)["current"] == before
    dragon.empty_cache(fake)
    assert dragon.memory_stats(fake)["cached"] == 0


def test_a_full_device_is_a_memory_error(fake):
    with pytest.raises(MemoryError, match="got a request for 2.00 GiB on fake:1"):
        dragon.empty((1 << 29,), device=fake)
    x = dragon.empty((1 << 20,), device=fake)
    assert x.device == dragon.Device(fake)


def test_what_it_cannot_do_is_said(fake):
    x = dragon.ops.to_device(dragon.ones((3,)), fake)
    with pytest.raises(NotImplementedError, match="exp: got a tensor on fake"):
        dragon.math.exp(x)
    with pytest.raises(ValueError, match="add: got tensors on fake:1 and cpu"):
        x + dragon.ones((3,))
    with pytest.raises(ValueError, match="fake:2.*below 2"):
        dragon.empty((3,), device="fake:2")
    with pytest.raises(RuntimeError, match="cuda.*nothing is loaded"):
        dragon.empty((3,), device="cuda")


def test_views_work_where_kernels_do_not(fake):
    x = dragon.ops.to_device(dragon.from_numpy(numpy.arange(12.0).reshape(3, 4)), fake)
    view = dragon.ops.reshape(x, (4, 3))
    assert view.shape == (4, 3)
    numpy.testing.assert_array_equal(numpy.asarray(dragon.ops.to_device(view, "cpu")), numpy.arange(12.0).reshape(4, 3))
