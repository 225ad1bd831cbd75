"""The answer to an argument of the wrong kind: a TypeError about the argument, not about what it missed."""
import functools
import inspect
import re
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
        A TypeError where the face's own code looked for something that only the right kind of argument has; the
        error itself where it comes from code of the caller's, or from a tensor or module that lacks something.

    """
    missed = what_was_missed(error, args, kwargs) if is_ours(error) else None
    if missed is None or isinstance(missed[0], types.ModuleType):
        return error
    lacking, attribute = missed
    # What a tensor lacks may be a fault of ours; text and containers have what a tensor never had.
    if isinstance(lacking, _C.Tensor) and not any(hasattr(kind, attribute) for kind in (str, dict, list)):
        return error
    who = getattr(function, "__name__", "dragon")
    name = next((name for name, value in named(function, args, kwargs) if value is lacking), None)
    kind = type(lacking).__name__
    wanted = "a tensor" if hasattr(_C.Tensor, attribute) else f"an object with '{attribute}'"
    better = TypeError(f"{who}: got '{kind}' for argument '{name}', expected {wanted}" if name else
                       f"{who}: got {told(args, kwargs)}, expected {wanted} where a '{kind}' came")
    better.__cause__ = error
    return better


def what_was_missed(error, args, kwargs):
    """Return (object, attribute) of an AttributeError, or None for one that a line of code raised by itself."""
    if error.name is not None:
        return error.obj, error.name
    # Python says of an assignment which class and which attribute, not which object.
    words = re.fullmatch(r"'([^']*)' object has no attribute '([^']*)'.*", str(error))
    kind = words and words[1].rpartition(".")[2]
    found = [value for value in (*args, *kwargs.values()) if type(value).__name__ == kind]
    return (found[0], words[2]) if found else None


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


def refusing(function):
    """Have a function that is written in Python refuse arguments of the wrong kind, as the operators do."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except AttributeError as error:
            better = refused(call, args, kwargs, error)
            if better is error:
                raise
            raise better
    return call


def guard_methods(ops, tensor_class, left_out=()):
    """Have the methods that a class of tensors is written with refuse what is no tensor, as the operators do.

    Parameters
    ----------
    ops : _C.Ops
        The operators of the face.
    tensor_class : type
        The class.
    left_out : Sequence[str], optional
        Names of methods that stay as they are.

    """
    for name, value in list(vars(tensor_class).items()):
        if isinstance(value, types.FunctionType) and name not in left_out:
            setattr(tensor_class, name, ops.overridable(value))
