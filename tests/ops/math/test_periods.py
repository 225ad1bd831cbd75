"""Operands that come again and again beside a larger one, as numbers of channels do that stand last."""
import numpy as np
import pytest

import dragon
from harness.subresults import each

DTYPES = ["float32", "float64", "float16", "int32", "int8", "uint8", "bool", "complex64"]


@each("other", DTYPES)
@each("dtype", ["float32", "int32", "uint8", "complex64"])
@each("large, small", [
    ((50, 40, 3), (3,)), ((50, 40, 3), (40, 3)), ((50, 40, 3), (1, 1, 3)), ((2, 700, 7), (7,)), ((3, 2, 1025), (1025,)),
    ((3000, 2), (2,)), ((1, 3), (3,)), ((5, 1, 4, 3), (4, 3)), ((60, 513), (513,)), ((7, 3, 2), (3, 1))])
def test_sums_are_those_of_numpy(large, small, dtype, other):
    random = np.random.default_rng(0)
    x = random.integers(0, 100, large).astype(dtype)
    y = random.integers(0, 2 if other == "bool" else 100, small).astype(other)
    got = dragon.from_numpy(x) + dragon.from_numpy(y)
    expected = x.astype(str(np.asarray(got).dtype)) + y.astype(str(np.asarray(got).dtype))
    np.testing.assert_array_equal(np.asarray(got), expected)
    back = dragon.from_numpy(y) + dragon.from_numpy(x)
    np.testing.assert_array_equal(np.asarray(back), expected)


@pytest.mark.parametrize("rows", [1, 3, 341, 342, 1000, 30000])
def test_blocks_begin_anywhere_in_a_period(rows):
    x, y = np.arange(rows * 3.0).reshape(rows, 3), np.array([1.0, 20.0, 300.0])
    for given in (x, np.asfortranarray(x), x[::-1], np.repeat(x, 2, 0)[::2]):
        np.testing.assert_array_equal(np.asarray(dragon.from_numpy(given.copy("K")) * dragon.from_numpy(y)), given * y)
    np.testing.assert_array_equal(np.asarray(dragon.ops.where(
        dragon.from_numpy(np.array([True, False, True])), dragon.from_numpy(x), dragon.from_numpy(y))),
        np.where([True, False, True], x, y))
    again = dragon.from_numpy(x.copy())
    dragon.ops.add_(again, dragon.from_numpy(y))
    np.testing.assert_array_equal(np.asarray(again), x + y)


@each("axes", [(0,), (1,), (0, 1), (2,), (0, 1, 2)])
@each("channels", [1, 2, 3, 4, 5])
@each("dtype", ["float32", "uint8", "complex128"])
def test_flips_with_few_channels(axes, channels, dtype):
    x = np.arange(70 * 33 * channels).reshape(70, 33, channels).astype(dtype)
    for given in (x, x.transpose(1, 0, 2), np.asfortranarray(x)):
        got = dragon.ops.flip(dragon.from_numpy(given), axes)
        np.testing.assert_array_equal(np.asarray(got), np.flip(given, axes))
