"""One expression, evaluated by genuine PyTorch and by Dragon's: the same values and dtypes, or the same error.

What genuine PyTorch gives is recorded (`harness/answers`), so that it is imported only for what is not.
"""
import re
import warnings

import numpy
import pytest

from dragon.vm import torch as dragon_torch
from harness import answers
from harness.answers import Raised

# What expressions speak of: one NumPy array for each name.
_random = numpy.random.RandomState(0)
ARRAYS = {
    "x": _random.randn(3, 4).astype("float32"),
    "y": _random.randn(3, 4).astype("float32"),
    "p": _random.rand(3, 4).astype("float32") + 0.5,
    "v": _random.randn(4).astype("float32"),
    "w": _random.randn(5).astype("float32"),
    "d": _random.randn(2, 3).astype("float64"),
    "m": _random.randn(4, 4).astype("float32"),
    "b": _random.randn(2, 3, 4).astype("float32"),
    "i": _random.randint(-4, 5, (3, 4)),
    "j": numpy.array([2, 0, 1]),
    "q": _random.rand(3, 4) > 0.5,
    "z": (_random.randn(3, 4) + 1j * _random.randn(3, 4)).astype("complex64"),
    "s": numpy.array(0.5, "float32"),
    "e": numpy.zeros((0, 4), "float32"),
    "n": numpy.array([[1, numpy.nan, 2, 0], [0, 3, numpy.nan, numpy.nan], [4, 5, 6, 7]], "float32"),
}
PLAIN = (float, complex, int, str, bool)
TENSOR_WARNINGS = (UserWarning, DeprecationWarning, FutureWarning)


def namespace(module, needs_grad=()):
    """Return the names of expressions as one of the two sides knows them."""
    names = {name: module.from_numpy(numpy.array(array, copy=True)) for name, array in ARRAYS.items()}
    for name in needs_grad:
        names[name].requires_grad_()
    return dict(names, torch=module, np=numpy, inf=float("inf"), nan=float("nan"))


def run(code, module, needs_grad=()):
    """Return what a line of code gives on one side, the error instead if it raises one."""
    names = namespace(module, needs_grad)
    *before, last = code.split("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TENSOR_WARNINGS)
        try:
            for line in before:
                exec(line, names)
            return eval(last, names), names
        except Exception as error:
            return error, names


def numbers(tensor):
    """Return a tensor of either side as an array."""
    tensor = tensor.detach().resolve_conj()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).cpu().numpy()


def told(value):
    """Return a result of genuine PyTorch as plain values: tensors by dtype, shape and numbers, others by looks."""
    if isinstance(value, (Exception, numpy.ndarray)) or value is None or type(value) in PLAIN:
        return value
    if isinstance(value, (tuple, list)):
        return (tuple if isinstance(value, tuple) else list)(map(told, value))
    if hasattr(value, "detach") and hasattr(value, "dtype"):
        return {"dtype": str(value.dtype), "shape": tuple(map(int, value.shape)), "numbers": numbers(value)}
    return {"shown": answers.values.ADDRESS.sub("", repr(value))}


def genuine_torch():
    """Return genuine PyTorch, or skip the running test."""
    return pytest.importorskip("torch", reason="genuine PyTorch, the oracle, is not installed")


def on_genuine(function, *args):
    """Return what function(torch, *args) gives for genuine PyTorch, as plain values; what it asserts holds there."""
    return answers.ask("torch", [function, args], lambda: told(function(genuine_torch(), *args)))


def arrays_of(code):
    """Return the arrays that a line of code may speak of."""
    return {name: array for name, array in ARRAYS.items() if re.search(rf"\b{name}\b", code)}


def genuine_result(code):
    """Return what a line of code gives in genuine PyTorch, as plain values."""
    return answers.ask("torch", [code, arrays_of(code)], lambda: told(run(code, genuine_torch())[0]))


def compare(mine, genuine, code, tolerance=1e-5):
    """Assert that a result agrees with what is told of genuine PyTorch's."""
    if isinstance(genuine, Raised):
        assert isinstance(mine, Exception), f"{code}: genuine raises {genuine!r}, Dragon returns {mine!r}"
        kinds = (TypeError, IndexError, ValueError, NotImplementedError, RuntimeError)
        expected = next((kind for kind in kinds if genuine.is_a(kind)), type(genuine.builtin()))
        assert isinstance(mine, expected), f"{code}: genuine raises {genuine!r}, Dragon {mine!r}"
        return
    if isinstance(mine, Exception):
        raise AssertionError(f"{code}: Dragon raises {mine!r}") from mine
    if isinstance(genuine, dict) and "dtype" in genuine:
        dtype, shape = genuine["dtype"], genuine["shape"]
        assert isinstance(mine, dragon_torch.Tensor), f"{code}: got {type(mine)}"
        assert str(mine.dtype) == dtype and tuple(mine.shape) == shape, \
            f"{code}: got {mine.dtype} {tuple(mine.shape)}, expected {dtype} {shape}"
        numpy.testing.assert_allclose(numbers(mine), genuine["numbers"], tolerance, tolerance, err_msg=code)
    elif isinstance(genuine, (tuple, list)):
        assert isinstance(mine, (tuple, list)) and len(mine) == len(genuine), f"{code}: got {mine!r}"
        for one, other in zip(mine, genuine):
            compare(one, other, code, tolerance)
    elif isinstance(genuine, float):
        both_nan = mine != mine and genuine != genuine
        assert mine == genuine or abs(mine - genuine) <= tolerance * abs(genuine) or both_nan, f"{code}: {mine}"
    elif isinstance(genuine, (int, str, bool, type(None))):
        assert mine == genuine and type(mine) is type(genuine), f"{code}: got {mine!r}, expected {genuine!r}"
    else:
        mine, genuine = told(mine), genuine["shown"] if isinstance(genuine, dict) else repr(genuine)
        shown = mine["shown"] if isinstance(mine, dict) else repr(mine)
        assert shown == genuine, f"{code}: got {shown}, expected {genuine}"


def same(code, tolerance=1e-5):
    """Assert that a line of code gives the same on both sides; statements before the last `; ` run first."""
    compare(run(code, dragon_torch)[0], genuine_result(code), code, tolerance)


def gradients_of(code, module, names):
    """Return the gradients, by names, of the sum of squares of what a line gives on one side."""
    result, known = run(code, module, names)
    if isinstance(result, Exception):
        raise AssertionError(f"{code}: {module.__name__} raises {result!r}") from result
    parts = result if isinstance(result, (tuple, list)) else [result]
    total = sum((part * part.conj()).sum().real for part in parts if part.requires_grad)
    total.backward()
    return [known[name].grad for name in names]


def same_gradients(code, *names, tolerance=1e-4):
    """Assert that the sum of squares of what a line gives has the same gradients on both sides."""
    genuine = answers.ask("torch", [code, arrays_of(code), "gradients", names],
                          lambda: told(gradients_of(code, genuine_torch(), names)))
    for name, theirs, mine in zip(names, genuine, gradients_of(code, dragon_torch, names), strict=True):
        compare(mine, theirs, f"{code} by {name}", tolerance)


def rows(table):
    """Return the lines of a table, without empty ones and comments."""
    return [line.strip() for line in table.strip().split("\n") if line.strip() and not line.strip().startswith("#")]
