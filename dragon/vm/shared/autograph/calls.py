"""Calls in rewritten code: the user's functions are rewritten in turn, everything else is called as it is."""
import functools
import inspect
import logging
import types

from dragon.core.capture.code_names import LIBRARIES
from dragon.core.rewriting.functions import is_rewritten, rewrite
from dragon.core.rewriting.sources import NoSource
from dragon.core.warnings import is_users
from dragon.vm.shared.autograph import builtins, status
from dragon.vm.shared.autograph.loops import Numbers, Range
from dragon.vm.shared.recording.marks import is_marked

# Packages that TensorFlow leaves as they are, and those of Dragon and Python.
LEFT = LIBRARIES | {"tensorflow", "keras", "tf_keras", "matplotlib", "pandas", "PIL", "tensorflow_probability", "ipdb",
                    "mock", "tensorflow_datasets", "torch", "pytest", "_pytest"}
_warned = set()
library = []  # the module whose functions rewritten code calls: it says so itself


def converted_call(f, args, kwargs):
    """Return what a function returns, rewritten if it is the user's.

    Parameters
    ----------
    f : Callable
        The function.
    args : tuple
        Its arguments.
    kwargs : dict, optional
        Those by name.

    Returns
    -------
    Any
        What it returned.

    """
    kwargs = kwargs or {}
    if type(f) is functools.partial:
        return converted_call(f.func, f.args + tuple(args), {**f.keywords, **kwargs})
    try:
        other = builtins.OVERLOADS.get(f)
    except TypeError:  # what cannot be hashed is none of Python's own functions
        other = None
    if other is not None:
        return other(*args, **kwargs)
    now = status.current()
    if now is None or not now.enabled or not now.recursive:
        return f(*args, **kwargs)
    made = rewritten(f, now.features)
    return f(*args, **kwargs) if made is None else made(*args, **kwargs)


builtins.callers.append(converted_call)


def converted_iteration(f, args, kwargs):
    """Return what a `for` goes through: of `tf.range` its limits, where these are known when the graph runs."""
    from dragon.vm.shared.arrays.creation import range_
    if f is range_ or f is range:
        found = builtins.limits(f, *args, **(kwargs or {}))
        if found is not None:
            return Range(*found)
    if f is range_:
        items = range_(*args, **(kwargs or {}))
        start = args[0] if len(args) > 1 or kwargs and "limit" in kwargs and args else (kwargs or {}).get("start", 0)
        return Numbers(items, start)
    return converted_call(f, args, kwargs)


def rewritten(f, features=(), requested=False):
    """Return what is called instead of a callable, or None where it is called as it is.

    Parameters
    ----------
    f : Callable
        A function, method or object with `__call__`.
    features : Tuple[str, ...], optional, default=()
        What is rewritten besides; see `dragon.core.rewriting.control.rewritten_body`.
    requested : bool, optional, default=False
        Whether the user has asked for this very function, which may then be a library's.

    Returns
    -------
    Optional[Callable]
        A function of the same arguments.

    """
    if is_marked(f) or inspect.isclass(f) or isinstance(f, (types.BuiltinFunctionType, functools.partial)):
        return None
    if isinstance(f, types.MethodType):
        inner = rewritten(f.__func__, features, requested)
        return None if inner is None else types.MethodType(inner, f.__self__)
    if not isinstance(f, types.FunctionType):
        call = getattr(type(f), "__call__", None)
        if not isinstance(call, types.FunctionType) or is_marked(call):
            return None
        inner = rewritten(call, features, requested)
        return None if inner is None else types.MethodType(inner, f)
    if is_rewritten(f) or not requested and is_left(f) or inspect.isgeneratorfunction(f) or (
            inspect.iscoroutinefunction(f)):
        return None
    try:
        made = rewrite(f, library[0], features)
    except NoSource as error:
        return _say(f, error)
    except (SyntaxError, ValueError, RecursionError) as error:
        return _say(f, f"{type(error).__name__}: {error}")
    status.tell(1, f"Converted call: {f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno})")
    return made


def is_left(f):
    """Return whether a function belongs to a package that is not rewritten."""
    module = (f.__globals__.get("__name__") or "").partition(".")[0]
    return module in LEFT or not is_users(f.__code__.co_filename)


def _say(f, cause):
    """Warn once that a function runs as it is."""
    key = id(f.__code__)
    if key not in _warned and f.__code__.co_filename != "<string>":
        _warned.add(key)
        logging.getLogger("tensorflow").warning(
            "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
            "function with @tf.autograph.experimental.do_not_convert", f, cause)
