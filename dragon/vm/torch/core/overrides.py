"""`__torch_function__`: classes and modes that answer calls of the API themselves."""
import threading

from dragon import _C
from dragon.core import modes as switches
from dragon.core.capture.regions import step_apart
from dragon.core.scopes import ExitStack, Scope

_local = threading.local()
beneath = []  # who asks classes and modes for operators, as soon as there is one: see `dispatching.dispatcher`


def _disabled_torch_function_impl(function, types, args=(), kwargs=None):
    """Call the function as if its arguments were plain tensors; what a class says to be left alone."""
    with DisableTorchFunctionSubclass():
        return function(*args, **(kwargs or {}))


def _left_alone(function, types, args=(), kwargs=None):
    """Answer no call of the API; what a class is made to say that answers for operators."""
    return _disabled_torch_function_impl(function, types, args, kwargs)


class DisableTorchFunctionSubclass(Scope):
    """Ask no class and no mode within a `with` block."""

    def _enter_scope(self, exits):
        """Ask nobody from now on."""
        exits.set(_local, "disabled", True)
        # Who answers for operators is asked all the same: then the engine asks here, and no class is.
        if not beneath:
            exits.switch(switches.set_override_disabled, True)


def is_disabled():
    """Return whether no class and no mode is asked at present."""
    return getattr(_local, "disabled", False)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Ask neither classes nor modes within a `with` block."""


def count_modes():
    """Tell the engine how many modes hear this thread's calls."""
    of_functions = len(modes())
    switches.set_override_modes(of_functions + sum(who.count() for who in beneath), of_functions)


def modes():
    """Return this thread's modes, the innermost last."""
    if not hasattr(_local, "modes"):
        _local.modes = []
    return _local.modes


class TorchFunctionMode(_C.Scope):
    """See every call of the API within a `with` block, in a method `__torch_function__(func, types, args, kwargs)`."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__}: got no __torch_function__, expected one")

    def _enter_scope(self, exits):
        """See calls from now on."""
        exits.callback(count_modes)
        exits.push(modes(), self)
        count_modes()
        step_apart(exits)  # graphs ask nobody
        return self


def overloaded(args):
    """Return the arguments whose classes answer calls, subclasses before their bases, each class once."""
    found = []
    for argument in args:
        answer = getattr(type(argument), "__torch_function__", None)
        is_plain = type(argument).__base__ is _C.Tensor  # `torch.Tensor` itself, not a class derived from it
        if answer is None or answer is _disabled_torch_function_impl or answer is _left_alone or is_plain:
            continue
        if any(type(argument) is type(other) for other in found):
            continue
        place = next((index for index, other in enumerate(found) if isinstance(argument, type(other))), len(found))
        found.insert(place, argument)
    return found


def flat(args, kwargs):
    """Yield arguments, and the items of those that are lists or tuples."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, (list, tuple)):
            yield from argument
        yield argument


def handle(function, args, kwargs):
    """Answer a call in which a class or a mode wants to speak; the engine calls it.

    Parameters
    ----------
    function : Callable
        The function of the API.
    args : tuple
        Its positional arguments.
    kwargs : dict
        Its keyword arguments.

    Returns
    -------
    Any
        What the first of them that does not decline returns.

    """
    for who in beneath:
        args, kwargs = who.revive(args), who.revive(kwargs)
    if is_disabled():
        return below(function, args, kwargs)
    found = overloaded(flat(args, kwargs))
    types = tuple(type(argument) for argument in found)
    stack = modes()
    if stack:
        with ExitStack() as aside:
            aside.callback(count_modes)
            mode = aside.take(stack)
            count_modes()
            result = mode.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for argument in found:
        result = argument.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if not found:  # only modes were there, and all declined; or operators are answered for
        return below(function, args, kwargs)
    names = ", ".join(kind.__name__ for kind in types)
    raise TypeError(f"no implementation found for {getattr(function, '__name__', function)!r} on types that implement "
                    f"__torch_function__: {names}")


def below(function, args, kwargs):
    """Call a function that no class and no mode has answered for; its operators may be answered for."""
    attribute = getattr(function, "__self__", None)
    if type(attribute) is _C.AskingField:  # a look; what it computes asks by itself
        return getattr(attribute.__wrapped__, function.__name__)(*args)
    for who in beneath:
        if who.is_wanted(args, kwargs):
            return who.call(function, args, kwargs)
    with ExitStack() as stack:
        stack.switch(switches.set_override_disabled, True)
        return function(*args, **kwargs)


def has_torch_function(args):
    """Return whether an argument's class, or a mode, answers calls."""
    return bool(modes()) or bool(overloaded(args))


def has_torch_function_unary(tensor):
    """Return whether the class of one argument, or a mode, answers calls."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*tensors):
    """Return whether the class of an argument, or a mode, answers calls."""
    return has_torch_function(tensors)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Have the classes of the relevant arguments answer a call of a function written outside."""
    return handle(public_api, args, kwargs)
