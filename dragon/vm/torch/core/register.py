"""Decorators with which functions written in Python say what they are: of the module, a method, or both.

`@function` makes `torch.<name>`, `@method` makes `Tensor.<name>`, `@both` makes both. What is registered answers to
`__torch_function__` like the engine's own operators.
"""
from dragon.vm.torch.core.tensor import Tensor, ops

FUNCTIONS = {}
NUMBERS_FIRST = {"float_power"}  # whose `input` may be a number


def overridable(python_function):
    """Return a function that asks its arguments' classes for `__torch_function__` first.

    What PyTorch calls `input` is a tensor: a number is refused.
    """
    code = getattr(python_function, "__code__", None)
    names = code.co_varnames[:code.co_argcount] if code else ()
    return ops.overridable(python_function, names[:1] == ("input",) and python_function.__name__ not in NUMBERS_FIRST)


def overload(operator, of=None):
    """Register `torch.<name>` as an operator that falls back on a Python function for arguments it refuses.

    The operator answers the common form at the speed of the engine; the function knows every other form.

    Parameters
    ----------
    operator : str
        The engine's operator.
    of : str, optional
        "method" for `Tensor.<name>`, "both" for a function and a method; by default a function.

    Returns
    -------
    Callable
        A decorator.

    """
    def register(python_function):
        fast = ops.with_fallback(operator, overridable(python_function))
        if of != "method":
            FUNCTIONS[python_function.__name__] = fast
        if of:
            setattr(Tensor, python_function.__name__, fast)
        return fast
    return register


def function(python_function):
    """Register `torch.<name>`."""
    wrapped = overridable(python_function)
    FUNCTIONS[python_function.__name__] = wrapped
    return wrapped


def plain(python_function):
    """Register `torch.<name>` that asks no class: it only looks at what it is given."""
    FUNCTIONS[python_function.__name__] = python_function
    return python_function


def plain_method(python_function):
    """Register `Tensor.<name>` that asks no class."""
    setattr(Tensor, python_function.__name__, python_function)
    return python_function


def method(python_function):
    """Register `Tensor.<name>`."""
    wrapped = overridable(python_function)
    setattr(Tensor, python_function.__name__, wrapped)
    return wrapped


def both(python_function):
    """Register `torch.<name>` and `Tensor.<name>`, one object."""
    wrapped = function(python_function)
    setattr(Tensor, python_function.__name__, wrapped)
    return wrapped


def alias(target, *names):
    """Give a function of this module, and the method if there is one, further names."""
    for name in names:
        if target in FUNCTIONS:
            FUNCTIONS[name] = FUNCTIONS[target]
        if hasattr(Tensor, target):
            setattr(Tensor, name, getattr(Tensor, target))
