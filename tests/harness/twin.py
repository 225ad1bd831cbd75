"""One expression, evaluated by genuine PyTorch and by Dragon's: the same values and dtypes, or the same error."""
import itertools
import warnings

import numpy
import torch

from dragon.vm import torch as dragon_torch

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


def compare(mine, genuine, code, tolerance=1e-5):
    """Assert that two results agree."""
    if isinstance(genuine, Exception):
        assert isinstance(mine, Exception), f"{code}: genuine raises {genuine!r}, Dragon returns {mine!r}"
        kinds = (TypeError, IndexError, ValueError, NotImplementedError, RuntimeError)
        expected = next(kind for kind in (*kinds, type(genuine)) if isinstance(genuine, kind))
        assert isinstance(mine, expected), f"{code}: genuine raises {genuine!r}, Dragon {mine!r}"
        return
    if isinstance(mine, Exception):
        raise AssertionError(f"{code}: Dragon raises {mine!r}") from mine
    if isinstance(genuine, torch.Tensor):
        assert isinstance(mine, dragon_torch.Tensor), f"{code}: got {type(mine)}"
        assert str(mine.dtype) == str(genuine.dtype) and tuple(mine.shape) == tuple(genuine.shape), \
            f"{code}: got {mine.dtype} {tuple(mine.shape)}, expected {genuine.dtype} {tuple(genuine.shape)}"
        numpy.testing.assert_allclose(numbers(mine), numbers(genuine), tolerance, tolerance, err_msg=code)
    elif isinstance(genuine, (tuple, list)):
        assert isinstance(mine, (tuple, list)) and len(mine) == len(genuine), f"{code}: got {mine!r}"
        for one, other in itertools.zip_longest(mine, genuine):
            compare(one, other, code, tolerance)
    elif isinstance(genuine, float):
        both_nan = mine != mine and genuine != genuine
        assert mine == genuine or abs(mine - genuine) <= tolerance * abs(genuine) or both_nan, f"{code}: {mine}"
    elif isinstance(genuine, (int, str, bool, type(None))):
        assert mine == genuine and type(mine) is type(genuine), f"{code}: got {mine!r}, expected {genuine!r}"
    else:
        assert repr(mine) == repr(genuine), f"{code}: got {mine!r}, expected {genuine!r}"


def same(code, tolerance=1e-5):
    """Assert that a line of code gives the same on both sides; statements before the last `; ` run first."""
    genuine, _ = run(code, torch)
    compare(run(code, dragon_torch)[0], genuine, code, tolerance)


def same_gradients(code, *names, tolerance=1e-4):
    """Assert that the sum of squares of what a line gives has the same gradients on both sides."""
    results = []
    for module in (torch, dragon_torch):
        result, known = run(code, module, names)
        if isinstance(result, Exception):
            raise AssertionError(f"{code}: {module.__name__} raises {result!r}") from result
        parts = result if isinstance(result, (tuple, list)) else [result]
        total = sum((part * part.conj()).sum().real for part in parts if part.requires_grad)
        total.backward()
        results.append([known[name].grad for name in names])
    for name, genuine, mine in zip(names, *results):
        compare(mine, genuine, f"{code} by {name}", tolerance)


def rows(table):
    """Return the lines of a table, without empty ones and comments."""
    return [line.strip() for line in table.strip().split("\n") if line.strip() and not line.strip().startswith("#")]
