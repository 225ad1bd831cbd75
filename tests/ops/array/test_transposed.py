"""Copies between memory orders: whole squares of registers, the tails beside them, and pictures' channels."""
import numpy
import pytest

import dragon
from harness import engine

WORDS = ("uint8", "float16", "float32", "float64", "complex128")  # of 1, 2, 4, 8 and 16 bytes


def numbers(shape, dtype):
    """Return numbers of which neighbours differ in any dtype."""
    return (numpy.arange(numpy.prod(shape)) % 251).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("shape, axes", [
    ((64, 96), (1, 0)), ((67, 131), (1, 0)), ((8, 129), (1, 0)), ((3, 37, 41), (0, 2, 1)), ((3, 37, 41), (2, 1, 0)),
    ((9, 2, 70), (2, 1, 0)), ((2, 33, 9, 7), (0, 2, 3, 1)), ((2, 9, 7, 33), (0, 3, 1, 2))], ids=str)
def test_transposed_copies(shape, axes, dtype):
    moved = numbers(shape, dtype).transpose(axes)
    assert numpy.array_equal(engine.array(dragon.ops.to_row_major(engine.borrow(moved))), moved)


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_channels_side_by_side(channels, dtype):
    pictures = numbers((2, channels, 17, 67), dtype)
    wanted = numpy.zeros((2, 17, 67, channels), dtype).transpose(0, 3, 1, 2)
    dragon.ops.copy(engine.borrow(pictures), out=engine.borrow(wanted))
    assert numpy.array_equal(wanted, pictures)
