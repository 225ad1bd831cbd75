"""What a function that met an argument of the wrong kind says: a TypeError about the argument, not what it missed."""
import inspect
import types

from dragon import _C
from dragon.core.blunders import is_ours


def refused(function, args, kwargs, error):
    """Return the error to raise instead of an AttributeError; the engine asks, once a call has failed.

    Parameters
    ----------
    function : Callable
        The Python function behind the one that was called.
    args : tuple
        Its positional arguments.
    kwargs : dict
        Its keyword arguments.
    error : AttributeError
        What came out of it.

    Returns
    -------
    Exception
        A TypeError where the door's own code looked for something that only the right kind of argument has; the
        error itself where it comes from code of the caller's, or from a tensor or module that lacks something.

    """
    if not is_ours(error) or isinstance(error.obj, (_C.Tensor, types.ModuleType)) or error.name is None:
        return error
    who = getattr(function, "__name__", "torch")
    name = next((name for name, value in named(function, args, kwargs) if value is error.obj), None)
    kind = type(error.obj).__name__
    wanted = "a tensor" if hasattr(_C.Tensor, error.name) else f"an object with '{error.name}'"
    better = TypeError(f"{who}: got '{kind}' for argument '{name}', expected {wanted}" if name else
                       f"{who}: got {told(args, kwargs)}, expected {wanted} where a '{kind}' came")
    better.__cause__ = error
    return better


def named(function, args, kwargs):
    """Return [(name, value)] of the arguments of a call."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return [*zip(names, args), *kwargs.items()]


def told(args, kwargs):
    """Return the kinds of the arguments of a call."""
    words = [type(value).__name__ for value in args] + [f"{key}={type(kwargs[key]).__name__}" for key in kwargs]
    return f"({', '.join(words)})"
