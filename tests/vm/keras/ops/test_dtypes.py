"""Which dtype comes of which: keras.ops promotes as genuine Keras does."""
import numpy as np
import pytest

import dragon.vm.keras as keras
from dragon.vm.keras import ops
from harness import genuine
from harness.subresults import each

DTYPES = ["bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64"]
UNARY = """abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conj copy cos cosh deg2rad exp exp2 expm1
    fabs floor i0 isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not negative rad2deg real
    reciprocal round sign signbit sin sinc sinh sort sqrt square tan tanh trunc all any amax amin argmax argmin argsort
    average count_nonzero cumprod cumsum diff max mean median min prod ptp ravel std sum trace var nanmax nanmean nanmin
    nanprod nanstd nansum nanvar nancumsum ones_like zeros_like corrcoef vander transpose flip tril nonzero""".split()
BINARY = """add subtract multiply divide true_divide divide_no_nan power floor_divide mod fmod maximum minimum fmax fmin
    arctan2 logaddexp logaddexp2 hypot heaviside equal greater less_equal logical_and isclose matmul dot inner outer
    vdot tensordot kron where append cross bitwise_and""".split()
NUMBERS = [True, 2, 2.5]


def name_of(x):
    """Return the name of a result's dtype."""
    x = x[0] if isinstance(x, (list, tuple)) else x
    return genuine.keras.backend.standardize_dtype(x.dtype)


def make(module, dtype):
    """Return a small square of ones."""
    return module.cast(np.ones((3, 3), "float32"), dtype)


def results(module, function, *args):
    """Return the dtype of a result, or None for an error."""
    try:
        made = getattr(module, function)(*args)
    except Exception:  # noqa: B902: what genuine functions do not take, they refuse in many ways
        return None
    made = made[0] if isinstance(made, (list, tuple)) else made
    if isinstance(made.dtype, str):
        return made.dtype
    return made.dtype.name


@each("function", UNARY, size=25)
def test_one(function):
    wanted = {dtype: results(genuine.keras.ops, function, make(genuine.keras.ops, dtype)) for dtype in DTYPES}
    found = {dtype: results(ops, function, make(ops, dtype)) for dtype in DTYPES if wanted[dtype]}
    assert found == {dtype: name for dtype, name in wanted.items() if name}


@each("function", BINARY)
@pytest.mark.long("every function of two arguments is called with all pairs of dtypes")
def test_two(function):
    more = (np.ones((3, 3), bool),) if function == "where" else ()
    there, here = ({dtype: make(module, dtype) for dtype in DTYPES} for module in (genuine.keras.ops, ops))
    pairs = [(a, b) for a in DTYPES for b in DTYPES]
    wanted = {(a, b): results(genuine.keras.ops, function, *more, there[a], there[b]) for a, b in pairs}
    found = {(a, b): results(ops, function, *more, here[a], here[b]) for a, b in pairs if wanted[a, b]}
    assert found == {pair: name for pair, name in wanted.items() if name}


@pytest.mark.parametrize("function", "add subtract multiply divide power maximum where floor_divide".split())
def test_with_a_number(function):
    more = (np.ones((3, 3), bool),) if function == "where" else ()
    for number in NUMBERS:
        wanted = {dtype: results(genuine.keras.ops, function, *more, make(genuine.keras.ops, dtype), number)
                  for dtype in DTYPES}
        found = {dtype: results(ops, function, *more, make(ops, dtype), number) for dtype in DTYPES if wanted[dtype]}
        assert found == {dtype: name for dtype, name in wanted.items() if name}, number


def test_inferred_dtypes_are_those_of_results():
    for function in UNARY:
        for dtype in DTYPES:
            number = results(ops, function, make(ops, dtype))
            if number is not None and function != "nonzero":
                assert getattr(ops, function)(keras.KerasTensor((3, 3), dtype=dtype)).dtype == number, function
