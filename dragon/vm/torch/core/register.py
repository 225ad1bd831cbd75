"""Decorators with which functions written in Python say what they are: of the module, a method, or both.

`@function` makes `torch.<name>`, `@method` makes `Tensor.<name>`, `@both` makes both. What is registered answers to
`__torch_function__` like the engine's own operators.
"""
from dragon.vm.torch.core.tensor import Tensor, ops

FUNCTIONS = {}
NUMBERS_FIRST = {"float_power"}  # whose `input` may be a number
# Arguments that take no bool, wherever they stand.
INTEGERS = frozenset("axis0 axis1 chunks dim dim0 dim1 dim2 dimension end_dim group groups kernel_size n offset pow "
                     "start_dim step".split())
OPTIONAL = frozenset(("pin_memory", "requires_grad"))  # flags that None leaves open
TRUTHS = {"lu": "get_infos", "module_load": "assign", "pca_lowrank": "center", "stft": "center"}  # PyTorch asks `if`


def strict_arguments(python_function):
    """Return (place or -1, name, kind) of the arguments of a function that take no other of Python's classes.

    An argument that is a bool by default is a flag; an integer's name says so. PyTorch's own functions refuse alike.
    """
    code = python_function.__code__
    positional = code.co_varnames[:code.co_argcount]
    names = positional + code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(zip(reversed(positional), reversed(python_function.__defaults__ or ())))
    defaults.update(python_function.__kwdefaults__ or {})
    kinds = {}
    if "unbiased" not in names:  # of `var(x, False)` and its like the bool is another argument's
        kinds.update((name, "int") for name in names if name in INTEGERS)
    kinds.update((name, "bool?" if name in OPTIONAL else "bool") for name, default in defaults.items()
                 if default.__class__ is bool and TRUTHS.get(python_function.__name__) != name)
    places = {name: place for place, name in enumerate(positional)}
    return [(places.get(name, -1), name, kind) for name, kind in kinds.items()]


def overridable(python_function, strict=()):
    """Return a function that asks its arguments' classes for `__torch_function__` first.

    What PyTorch calls `input` is a tensor: a number is refused. So is what `strict` arguments do not take.
    """
    code = getattr(python_function, "__code__", None)
    names = code.co_varnames[:code.co_argcount] if code else ()
    of_tensor = names[:1] == ("input",) and python_function.__name__ not in NUMBERS_FIRST
    return ops.overridable(python_function, of_tensor, strict)


def strict(python_function):
    """Return a function like PyTorch's own: it asks classes, its flags take bools only, and its integers no bool."""
    return overridable(python_function, strict_arguments(python_function))


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
        fast = ops.with_fallback(operator, strict(python_function))
        if of != "method":
            FUNCTIONS[python_function.__name__] = fast
        if of:
            setattr(Tensor, python_function.__name__, fast)
        return fast
    return register


def function(python_function):
    """Register `torch.<name>`."""
    wrapped = strict(python_function)
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
    wrapped = strict(python_function)
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
