"""Functions of elements by rows: a name, the engine's operator, the dtypes that it takes, a node, a sentence."""
import builtins

from dragon import _C
from dragon.vm.shared.arrays.moving import is_ragged, is_text, take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.operators import (BOOL, COMPLEX, FLOATS, INTEGERS, RUNS, UNSIGNED, apply, operand,
                                                refuse_dtype)
from dragon.vm.shared.tensors.tensor import ops

NUMBERS = INTEGERS | FLOATS | COMPLEX
INEXACT = FLOATS | COMPLEX
# The letters of the rows: r real floats, c complex too, n all numbers, s no unsigned ones, o those with an order, b, i.
KINDS = {"r": FLOATS, "c": INEXACT, "n": NUMBERS, "s": NUMBERS - UNSIGNED, "o": INTEGERS | FLOATS,
         "b": {BOOL}, "i": INTEGERS}


def fill(namespace, unary, binary=""):
    """Give a module the functions of its rows.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    unary, binary : str
        Rows of functions of one tensor, and of two.

    """
    for text, make, ending in ((unary, _make_unary, "."), (binary, _make_binary, ", element by element.")):
        for line in text.strip().splitlines():
            name, operator, kind, node, words = line.split(" ", 4)
            namespace[name] = function = make(operator, KINDS[kind], node)
            function.__name__ = function.__qualname__ = name
            function.__module__, function.__doc__ = namespace["__name__"], f"Return {words}{ending} ..."


def of_ragged(function, *operands):
    """Return what a function of elements makes of ragged tensors."""
    from dragon.vm.shared.ragged.math import elementwise
    return elementwise(function, *operands)


def _make_unary(operator, allowed, node):
    run = getattr(ops, operator)

    def function(x, name=None):
        if is_ragged(x):
            return of_ragged(function, x)
        x = take(x)
        if x.dtype not in allowed:
            raise refuse_dtype(node, x.dtype)
        return run(x)
    return function


def check_pair(x, y, node):
    """Return both sides of an operator, the first as a tensor; numbers take the dtype of the tensor beside them."""
    if isinstance(x, _C.Tensor):
        return take(x), y
    if is_text(x):
        return convert_to_tensor(x), y
    if isinstance(y, _C.Tensor):
        other = operand(y, x, node) if not isinstance(x, (bool, int, float, builtins.complex)) else x
        return (other if isinstance(other, _C.Tensor) else convert_to_tensor(other, y.dtype)), y
    return convert_to_tensor(x), y


def _make_binary(operator, allowed, node):
    run = RUNS.get(operator) or getattr(ops, operator)

    def function(x, y, name=None):
        if is_ragged(x) or is_ragged(y):
            return of_ragged(function, x, y)
        x, y = check_pair(x, y, node)
        if not isinstance(x, _C.Tensor):  # strings, ragged tensors
            return of_others(function.__name__, x, y)
        found = apply(run, node, x, y, False, allowed)
        return of_others(function.__name__, x, y) if found is NotImplemented else found
    return function


SYMBOLS = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "greater": "__gt__", "less": "__lt__",
           "greater_equal": "__ge__", "less_equal": "__le__", "floordiv": "__floordiv__", "floormod": "__mod__"}


def of_others(name, x, y):
    """Return what the class of an operand that is no engine's tensor makes of an operator."""
    method = SYMBOLS.get(name, "")
    for side, other, symbol in ((x, y, method), (y, x, method.replace("__", "__r", 1))):
        own = getattr(type(side), symbol, None) if not isinstance(side, _C.Tensor) else None
        if own is not None and (found := own(side, other)) is not NotImplemented:
            return found
    raise TypeError(f"tf.math.{name}: operands of these classes are not supported. Received: {type(x).__name__} and "
                    f"{type(y).__name__}")
