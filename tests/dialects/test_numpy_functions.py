"""The table of NumPy's functions: rows are of NumPy's names and the engine's operators, and both compute the same."""
import numpy as np
import pytest

import dragon
from dragon import _C
from dragon.dialects.numpy.table import FLOATING, PRODUCT, TRUTHS, functions, names
from dragon.vm.tensorflow.core.numpy_like import elementwise

WHOLE = ("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")
FROM_ONE = ("arccosh",)


@pytest.mark.parametrize("name", functions())
def test_the_operator_is_numpys_function(name):
    told = functions()[name]
    dtype = "int32" if name in WHOLE else "complex64" if name == "imag" else "float32"
    first = np.array([3, 1, 2] if name in (*WHOLE, *FROM_ONE) else [0.25, 0.5, 0.75]).astype(dtype)
    given = (first, np.array([0.5, 0.25, 0.75] if dtype != "int32" else [2, 1, 5], dtype))[:told.operands]
    if TRUTHS in told.kinds:
        given = tuple(one > 0.3 for one in given)
    wanted = getattr(np, name)(*given)
    got = getattr(dragon.ops, told.operator)(*map(dragon.tensor, given)).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    tensors = getattr(elementwise, name)(*given)
    np.testing.assert_allclose(tensors.numpy(), wanted, rtol=1e-5)


def test_rows_are_of_operators():
    known = set(_C.op_names())
    assert not {told.operator for told in functions().values()} - known
    assert {told.operands for told in functions().values()} == {1, 2}
    words = frozenset((FLOATING, PRODUCT, TRUTHS))
    assert all(told.kinds <= words for told in functions().values())
    for name, told in functions().items():
        assert _C.schema(told.operator)["pointwise"] or told.kinds == {PRODUCT} or name in ("real", "imag")
        assert len(told.kinds) <= 1


@pytest.mark.parametrize("name", [name for name, told in functions().items() if FLOATING in told.kinds])
def test_what_floats_makes_floats_of_whole_numbers(name):
    given = [np.array([1, 1], "int32")] * functions()[name].operands
    assert getattr(elementwise, name)(*given).dtype.name == "float64"


def test_the_first_name_is_the_operators():
    assert names()["abs"] == "abs" and names()["atan2"] == "arctan2" and names()["lt"] == "less"
    assert names()["div"] == "true_divide" and names()["remainder"] == "mod"
    assert set(names()) == {told.operator for told in functions().values()}


@pytest.mark.parametrize("name", ["remainder", "bitwise_and", "bitwise_or", "bitwise_xor", "greater", "greater_equal",
                                  "less", "less_equal", "mod", "floor_divide", "maximum", "subtract"])
def test_wide_integers_stay_wide(name):
    x, y = np.array([2 ** 33 + 5, 7], "uint64"), np.array([3, 2 ** 34], "uint64")
    got, wanted = getattr(elementwise, name)(x, y).numpy(), getattr(np, name)(x, y)
    assert got.tolist() == wanted.tolist() and got.dtype == wanted.dtype


def test_names_are_those_of_tensorflows_numpy():
    from harness import genuine
    assert not [name for name in functions() if not hasattr(genuine.tf.experimental.numpy, name)]
