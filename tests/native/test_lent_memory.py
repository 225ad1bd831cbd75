"""Memory that others look at: tensors may take other memory, what was lent stays as long as anybody holds it."""
import gc
import weakref

import numpy as np
import pytest

import dragon
from dragon import _C
from harness.subresults import each

pytestmark = pytest.mark.usefixtures("only_new_garbage")
SIZE = 1 << 18  # big enough that a freed block is handed out again at once


def overwrite():
    """Ask for as much memory as was lent, and fill it."""
    return [dragon.full((SIZE,), 7.0) for _ in range(4)]


CHANGES = {
    "resize to more": lambda x: x.resize((4 * SIZE,)).__iadd__(1),
    "set_storage": lambda x: x.set_storage(dragon.zeros(3), (3,), None, 0),
    "data": lambda x: setattr(x, "data", dragon.zeros(3)),
    "become": lambda x: _C.become(x, dragon.zeros(3)),
}
LENDERS = {
    "numpy": lambda x: x.numpy(),
    "memoryview": lambda x: np.asarray(memoryview(x)),
    "dlpack": np.from_dlpack,
    "part of it": lambda x: x[1:].numpy(),
}


@each("lend", LENDERS.values(), ids=LENDERS)
@each("change", CHANGES.values(), ids=CHANGES)
def test_lent_memory_outlives_the_tensors_hold_of_it(change, lend):
    x = dragon.arange(SIZE, dtype="float32")
    array = lend(x)
    change(x)
    kept = overwrite()
    assert array[-1] == SIZE - 1 and array.astype("float64").sum() == np.arange(SIZE)[-len(array):].sum()
    del x, kept
    gc.collect()
    assert array[-1] == SIZE - 1


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_borrowed_memory_is_given_back_once_nobody_looks(change):
    class Owner(np.ndarray):
        """Can be watched."""

    array = np.arange(SIZE, dtype="float32").view(Owner)
    x, watch = dragon.from_numpy(array), weakref.ref(array)
    view = x[1:]
    del array
    change(x)
    assert watch() is not None and view[-1].item() == SIZE - 1
    del view
    assert watch() is None


def test_views_keep_their_memory_when_the_base_is_resized():
    x = dragon.arange(6, dtype="float32")
    row = x.reshape(2, 3)[1]
    x.resize((SIZE,))
    kept = overwrite()
    assert row.tolist() == [3, 4, 5] and len(kept) == 4


@pytest.mark.parametrize("offset", [3, 2**40, 2**62, 2**63 - 1])
def test_an_empty_view_that_begins_behind_its_memory_grows_into_its_own(offset):
    x = _C.tensor([1.0, 2.0], "float32", None, dragon.Tensor).as_strided((0,), (1,), offset)
    assert x.resize((64,)).shape == (64,) and x.storage_offset == 0
    x.fill_(1)
    assert x.sum().item() == 64


def test_an_empty_view_must_not_begin_before_its_memory():
    with pytest.raises(ValueError, match="offset"):
        dragon.zeros(2).as_strided((0,), (1,), -5)


def test_an_empty_row_grows():
    x = dragon.zeros(2, 0)[1]
    x.resize((64,)).fill_(1)
    assert x.sum().item() == 64


class Growing:
    """A number that makes the list it stands in longer as it is read for the n-th time."""

    def __init__(self, home, at):
        self.home, self.at, self.reads = home, at, 0

    def __index__(self):
        self.reads += 1
        if self.reads >= self.at:
            self.home.extend([1] * 100000)
        return 1

    __float__ = __index__


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("at", [1, 2])
def test_lists_that_change_while_they_are_read(at, nested):
    numbers = [2, 3]
    numbers.insert(0, Growing(numbers, at))
    with pytest.raises((ValueError, TypeError)):
        dragon.tensor([[1] * 3, numbers] if nested else numbers, dtype=dragon.int64)


def test_lists_that_vanish_while_they_are_read():
    rows = []

    class Clearing:
        def __index__(self):
            rows.clear()
            return 1

    rows.extend([[Clearing(), 1], [2, 3]])
    with pytest.raises((ValueError, TypeError)):
        dragon.tensor(rows, dtype=dragon.int64)


def test_a_place_in_a_block_that_overflows():
    block = _C.SharedBlock(16)
    with pytest.raises(ValueError, match="within the block"):
        block.tensor((4,), "float32", 2**63 - 4)


def test_dates_are_no_numbers():
    for made in (np.datetime64("2020"), np.timedelta64(3, "s")):
        with pytest.raises(TypeError):
            dragon.tensor(made)
        with pytest.raises(TypeError):
            dragon.tensor([made])
        with pytest.raises(TypeError):
            dragon.ones(2) + made
