"""`torch.overrides`: tools for classes and modes that answer calls of the API by `__torch_function__`."""
import functools
import inspect

from dragon import _C
from dragon.core import modes as switches
from dragon.core.scopes import ExitStack, contextmanager
from dragon.vm.torch.core.dispatching import mode_stack
from dragon.vm.torch.core.overrides import (DisableTorchFunctionSubclass, TorchFunctionMode,  # noqa: F401
                                            handle_torch_function, has_torch_function, has_torch_function_unary,
                                            has_torch_function_variadic, modes)
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import UNWRAPPED, Tensor


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def is_tensor_like(inp):
    """Return whether an object is a tensor or answers calls as one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher):
    """Return a decorator of functions that ask the arguments which `dispatcher` returns.

    Parameters
    ----------
    dispatcher : Callable
        It is called as the function, and returns the arguments whose classes may answer.

    Returns
    -------
    Callable
        The decorator.

    """
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)
        return wrapped
    return decorate


def get_default_nowrap_functions():
    """Return the functions whose results are never made instances of a subclass."""
    return set(UNWRAPPED)


def _methods():
    return [value for name, value in Tensor.__dict__.items() if callable(value) and not name.startswith("__")]


def _attributes():
    """Return what reads the attributes of Tensor, by their names."""
    return {name: value.__get__ for name, value in Tensor.__dict__.items() if isinstance(value, _C.AskingField)}


def get_overridable_functions():
    """Return the functions that ask for `__torch_function__`, by where they are."""
    from dragon.vm import torch
    kinds = (type(FUNCTIONS["add"]), type(FUNCTIONS["unique"]))
    return {torch: [value for value in FUNCTIONS.values() if isinstance(value, kinds)], Tensor: _methods()}


def get_ignored_functions():
    """Return the functions that never ask for `__torch_function__`."""
    kinds = (type(FUNCTIONS["add"]), type(FUNCTIONS["unique"]))
    return {value for value in FUNCTIONS.values() if not isinstance(value, kinds)}


@functools.cache
def get_testing_overrides():
    """Return a function for each that can be answered: with the same signature, it returns -1 whatever it is given.

    Returns
    -------
    Dict[Callable, Callable]
        The functions.

    """
    def stand_in(function):
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # of methods without one
            signature = inspect.Signature([inspect.Parameter(name, kind) for name, kind in (
                ("args", inspect.Parameter.VAR_POSITIONAL), ("kwargs", inspect.Parameter.VAR_KEYWORD))])

        def answer(*args, **kwargs):
            signature.bind(*args, **kwargs)
            return -1
        answer.__signature__ = signature
        return answer
    return {function: stand_in(function) for functions in get_overridable_functions().values()
            for function in functions}


def is_tensor_method_or_property(func):
    """Return whether a function is a method, or reads a property, of Tensor."""
    return func in _methods() or getattr(func, "__name__", "") == "__get__"


def resolve_name(f):
    """Return the name of a function of the API, None if it is none."""
    for prefix, names in (("torch", FUNCTIONS), ("torch.Tensor", Tensor.__dict__)):
        for name, value in names.items():
            if value is f:
                return f"{prefix}.{name}"
    return next((f"torch.Tensor.{name}.__get__" for name, reads in _attributes().items() if reads == f), None)


@contextmanager
def enable_reentrant_dispatch():
    """Record calls within a `with` block as they are above: for an answer that is to have a history of its own."""
    with ExitStack() as exits:
        exits.switch(switches.set_recording, mode_stack.records_above())
        yield


def _get_current_function_mode():
    return modes()[-1] if modes() else None


def _get_current_function_mode_stack():
    return list(modes())


def redispatch_function(func, types, args, kwargs):
    """Call a function without asking the classes of its arguments; what a function of Python's calls asks again."""
    if hasattr(func, "__wrapped__"):
        return func.__wrapped__(*args, **(kwargs or {}))
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))
