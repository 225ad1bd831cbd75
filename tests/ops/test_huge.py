"""More elements than an int32 counts: places and counts beyond 2^31, of repeated elements and of two gibibytes."""
import numpy as np
import pytest

import dragon

ops = dragon.ops
MANY = 2 ** 31 + 3
NEEDED = 6 << 30


def free_memory():
    """Return how many bytes are free on this machine; 0 where it does not tell."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except OSError:
        return 0


@pytest.fixture(scope="module")
def truths():
    """Return 2^31 + 3 bools, of which the last but one alone is true."""
    if free_memory() < NEEDED:
        pytest.skip("less than 6 GiB of memory are free")
    x = ops.zeros([MANY], dtype="bool")
    ops.copy(ops.ones([1], dtype="bool"), out=ops.narrow(x, 0, MANY - 2, 1))
    return x


@pytest.mark.slow
@pytest.mark.parametrize("name, wanted", [("sum", 2 * MANY), ("count_nonzero", MANY), ("amax", 2), ("any", True)])
def test_repeated_elements(name, wanted):
    x = ops.broadcast_to(dragon.from_numpy(np.array(2, np.int8)), [MANY])
    assert getattr(ops, name)(x).item() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name, wanted", [("sum", 1), ("count_nonzero", 1), ("any", True)])
def test_reductions(truths, name, wanted):
    assert getattr(ops, name)(truths).item() == wanted


@pytest.mark.slow
def test_places(truths):
    assert ops.argmax(ops.view_dtype(truths, "uint8")).item() == MANY - 2
    assert ops.nonzero(truths).numpy().tolist() == [[MANY - 2]]
    assert ops.index_select(truths, 0, dragon.from_numpy(np.array([MANY - 2, 5, MANY - 1]))).numpy().tolist() == [
        True, False, False]


@pytest.mark.slow
def test_views(truths):
    two = ops.reshape(ops.narrow(truths, 0, 3, 2 ** 31), [2, 2 ** 30])
    assert ops.any(two, 1).numpy().tolist() == [False, True]
    assert ops.narrow(truths, 0, MANY - 3, 3).numpy().tolist() == [False, True, False]
