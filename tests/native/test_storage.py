"""Tensors that change the memory they look at, and memory shared among processes."""
import os

import pytest

import dragon
from dragon import _C


def test_set_storage_becomes_a_window():
    x, y = dragon.zeros(3), dragon.arange(12, dtype="float32")
    assert x.set_storage(y, (2, 3), (4, 1), 1) is x
    assert x.tolist() == [[1, 2, 3], [5, 6, 7]] and x.storage_ptr == y.storage_ptr
    x += 1
    assert y.tolist()[:4] == [0, 2, 3, 4] and x.storage_nbytes == 48
    with pytest.raises(ValueError, match="12 elements"):
        x.set_storage(y, (13,), None)
    with pytest.raises(ValueError, match="offset"):
        x.set_storage(y, (2,), None, -1)


def test_resize_keeps_what_was_there():
    x = dragon.arange(6, dtype="float32")
    address = x.data_ptr()
    assert x.resize((2, 2)).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == address
    assert x.resize((6,)).tolist() == [0, 1, 2, 3, 4, 5]
    x.resize((100,))
    assert x.tolist()[:6] == [0, 1, 2, 3, 4, 5] and x.shape == (100,)


def test_a_child_writes_into_shared_memory():
    x = _C.shared_tensor((2, 3), "float32")
    block, offset = _C.shared_block_of(x)
    assert offset == 0 and block.bytes == 24 and block.name == ""
    child = os.fork()
    if child == 0:
        x += 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [[7] * 3] * 2


def test_blocks_open_by_descriptor_and_by_name():
    x = _C.shared_tensor((4,), "int64")
    block, _ = _C.shared_block_of(x[2:])
    twin = _C.SharedBlock.open(block.descriptor, block.bytes).tensor((2,), "int64", 16)
    x += 3
    assert twin.tolist() == [3, 3] and _C.shared_block_of(x[2:])[1] == 16
    name = f"dragon-test-{os.getpid()}"
    named = _C.shared_tensor((2,), "float32", name)
    try:
        again = _C.SharedBlock.open(name, 8).tensor((2,), "float32")
        named += 1
        assert again.tolist() == [1, 1]
    finally:
        assert _C.SharedBlock.unlink(name)
    assert _C.shared_block_of(dragon.zeros(3)) is None


def test_tensors_must_lie_within_their_block():
    block = _C.SharedBlock(16)
    with pytest.raises(ValueError, match="16"):
        block.tensor((5,), "float32")
    with pytest.raises(ValueError, match="multiple"):
        block.tensor((1,), "float32", 2)
