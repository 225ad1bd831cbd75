"""Decorators with which functions written in Python say what they are: of the module, a method, or both.

`@function` makes `torch.<name>`, `@method` makes `Tensor.<name>`, `@both` makes both. What is registered answers to
`__torch_function__` like the engine's own operators.
"""
import functools

from dragon import _C
from dragon.vm.torch.core.dtypes import as_dtype
from dragon.vm.torch.core.known.names import KINDS
from dragon.vm.torch.core.tensor import Tensor, ops

FUNCTIONS = {}
NUMBERS_FIRST = {"float_power"}  # whose `input` may be a number
# Arguments that take no bool, wherever they stand.
INTEGERS = frozenset("axis0 axis1 chunks dim dim0 dim1 dim2 dimension end_dim group groups kernel_size n offset pow "
                     "start_dim step".split())
OPTIONAL = frozenset(("pin_memory", "requires_grad"))  # flags that None leaves open
TRUTHS = {"lu": "get_infos", "module_load": "assign", "pca_lowrank": "center", "stft": "center"}  # PyTorch asks `if`
NO_INTEGER = frozenset((bool,))
NO_OPTIONAL_FLAG = frozenset((int, float, complex, str, list, tuple))
NO_FLAG = NO_OPTIONAL_FLAG | {type(None)}


def refused_classes(python_function):
    """Return ({name: classes that the argument refuses}, the names of the positional arguments) of a function.

    An argument that is a bool by default is a flag; an integer's name says so.
    """
    code = python_function.__code__
    positional = code.co_varnames[:code.co_argcount]
    by_name = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(zip(reversed(positional), reversed(python_function.__defaults__ or ())))
    defaults.update(python_function.__kwdefaults__ or {})
    names = positional + by_name
    # Of `var(x, False)` and its like the bool is another argument's.
    refused = {} if "unbiased" in names else {name: NO_INTEGER for name in names if name in INTEGERS}
    refused.update((name, NO_OPTIONAL_FLAG if name in OPTIONAL else NO_FLAG) for name, default in defaults.items()
                   if default.__class__ is bool and TRUTHS.get(python_function.__name__) != name)
    return refused, positional


def refuse(who, name, value):
    """Raise the TypeError about an argument of the wrong class."""
    kind, wanted = type(value).__name__, "int" if value.__class__ is bool else "bool"
    raise _C.InvalidType(f"{who}: got '{kind}' for argument '{name}', expected {wanted}")


def require_dtype(out, dtype):
    """Raise unless the destination of new numbers has the dtype that is asked for."""
    if out.dtype != dtype:
        raise RuntimeError(f"dtype {KINDS[dtype.name]} does not match dtype of out parameter ({KINDS[out.dtype.name]})")


def strict(python_function):
    """Return a function whose flags take bools only, and whose integers take no bool, as PyTorch's own do."""
    refused, positional = refused_classes(python_function)
    if not refused:
        return python_function
    who = python_function.__name__
    places = [(place, name, refused[name]) for place, name in enumerate(positional) if name in refused]
    makes_tensors = "requires_grad" in refused

    @functools.wraps(python_function)
    def call(*args, **kwargs):
        count = len(args)
        for place, name, classes in places:
            if place >= count:
                break
            if args[place].__class__ in classes:
                refuse(who, name, args[place])
        for name in kwargs:
            if name in refused and kwargs[name].__class__ in refused[name]:
                refuse(who, name, kwargs[name])
        if makes_tensors and kwargs.get("out") is not None and kwargs.get("dtype") is not None:
            require_dtype(kwargs["out"], as_dtype(kwargs["dtype"]))
        return python_function(*args, **kwargs)

    return call


def overridable(python_function):
    """Return a function that asks its arguments' classes for `__torch_function__` first.

    What PyTorch calls `input` is a tensor: a number is refused.
    """
    code = getattr(getattr(python_function, "__wrapped__", python_function), "__code__", None)
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
        fast = ops.with_fallback(operator, overridable(strict(python_function)))
        if of != "method":
            FUNCTIONS[python_function.__name__] = fast
        if of:
            setattr(Tensor, python_function.__name__, fast)
        return fast
    return register


def function(python_function):
    """Register `torch.<name>`."""
    wrapped = overridable(strict(python_function))
    FUNCTIONS[python_function.__name__] = wrapped
    return wrapped


def plain(python_function):
    """Register `torch.<name>` that asks no class: it only looks at what it is given."""
    FUNCTIONS[python_function.__name__] = asking = strict(python_function)
    return asking


def plain_method(python_function):
    """Register `Tensor.<name>` that asks no class."""
    asking = strict(python_function)
    setattr(Tensor, python_function.__name__, asking)
    return asking


def method(python_function):
    """Register `Tensor.<name>`."""
    wrapped = overridable(strict(python_function))
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
