"""TensorFlow's functions where they are given objects of a user's class: another function is called instead.

A function that nobody has written another one for is left as it is, and asks nothing.
"""
import collections.abc
import functools
import inspect
import sys
import typing

from dragon.vm.shared.arrays import creation
from dragon.vm.shared.ragged.dispatch import ELEMENTWISE
from dragon.vm.shared.recording.traces import LITERALS
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.tensorflow.core.dispatch import BINARY, UNARY
from dragon.vm.tensorflow.core.extension.fields import UNIONS
from dragon.vm.tensorflow.core.flow import asserts

# Claims about two arguments, value by value.
CLAIMS = {asserts: "assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near "
                   "assert_none_equal"}
_dispatchers = []


class _Dispatcher:
    """The functions that are called in the place of one of TensorFlow's."""

    def __init__(self, function):
        self.function, self.signature = function, inspect.signature(function)
        self.targets = []  # (what is called, classes of arguments by name, what the user has written)

    def find(self, args, kwargs):
        """Return what is to be called for arguments, or None."""
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:  # the function itself says what it misses
            return None
        return next((target for target, wanted, _ in self.targets if all(
            name in given and _is_of(given[name], kind) for name, kind in wanted.items())
            and any(_is_own(given[name]) for name in wanted)), None)


def _is_own(value):
    """Return whether a value is, or holds, more than tensors and numbers: those alone are TensorFlow's own business."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_own, value))
    return not isinstance(value, (Tensor, *LITERALS)) and type(value).__module__ != "numpy"


def _is_of(value, annotation):
    """Return whether a value is what an annotation says."""
    origin, within = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in UNIONS:
        return any(_is_of(value, one) for one in within)
    if origin in (list, tuple, collections.abc.Sequence):
        items = value if isinstance(value, (list, tuple)) else None
        return bool(items) and all(_is_of(item, within[0]) for item in items)
    return isinstance(value, annotation if isinstance(annotation, type) else type(annotation))


def _dispatcher_of(api):
    """Return the dispatcher of a function; the first time, it takes the function's place in all modules."""
    known = getattr(api, "_dispatcher", None)
    if known is not None:
        return known
    made = _Dispatcher(api)

    @functools.wraps(api)
    def dispatched(*args, **kwargs):
        target = made.find(args, kwargs)
        return api(*args, **kwargs) if target is None else target(*args, **kwargs)
    dispatched._dispatcher = made
    dispatched._knows_ragged = getattr(api, "_knows_ragged", False)
    for module in [one for name, one in sys.modules.items() if name.startswith("dragon.vm.") and one is not None]:
        for name in [name for name, value in vars(module).items() if value is api]:
            setattr(module, name, dispatched)
    made.public = dispatched
    _dispatchers.append(made)
    return made


def dispatch_for_api(api, *signatures):
    """Have another function be called in the place of one of TensorFlow's where arguments are of certain classes.

    Parameters
    ----------
    api : Callable
        The function of TensorFlow's, as `tf.concat`.
    *signatures : Dict[str, type]
        For names of its parameters, the classes of the arguments; the annotations of the other function by default.

    Returns
    -------
    Callable
        A decorator for the other function, which has the parameters of the first one.

    """
    dispatcher = _dispatcher_of(api)

    def decorate(target):
        names = [name for name in inspect.signature(target).parameters if name != "name"]
        wanted = [name for name in dispatcher.signature.parameters if name != "name"]
        if names != wanted[:len(names)] or any(
                one.default is one.empty for one in list(dispatcher.signature.parameters.values())[len(names):]):
            raise ValueError(f"Dispatch function's signature {inspect.signature(target)} does not match API's "
                             f"signature {dispatcher.signature}.")
        found = signatures or [{name: kind for name, kind in typing.get_type_hints(target).items() if name != "return"}]
        if not all(found):
            raise ValueError(f"The dispatch function {target!r} must have signatures or annotations that say which "
                             f"arguments of {dispatcher.function.__name__} it is for.")
        dispatcher.targets += [(target, signature, target) for signature in found]
        return target
    return decorate


def _elementwise(tables, kinds):
    """Return a decorator for a function that is called with a function of tables, of as many arguments as kinds."""
    def decorate(handler):
        for module, names in tables.items():
            for name in names.split():
                dispatcher = _dispatcher_of(getattr(module, name))
                places = list(dispatcher.signature.parameters)[:len(kinds)]
                target = functools.partial(_handle, handler, dispatcher, places)
                dispatcher.targets.append((target, dict(zip(places, kinds)), handler))
        return handler
    return decorate


def _handle(handler, dispatcher, places, *args, **kwargs):
    """Call a handler with the function, whose further arguments are given, and with what it goes through."""
    given = dispatcher.signature.bind(*args, **kwargs).arguments
    values = [given.pop(name) for name in places]
    if not given:
        return handler(dispatcher.public, *values)
    return handler(lambda *own: dispatcher.public(*own, **given), *values)


def dispatch_for_unary_elementwise_apis(x_type):
    """Have a function be called in the place of all of one argument that go through values one by one.

    Parameters
    ----------
    x_type : type
        The class of the argument.

    Returns
    -------
    Callable
        A decorator for a function that is called with TensorFlow's function and the argument.

    """
    return _elementwise({**UNARY, creation: ELEMENTWISE[creation]}, [x_type])


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """Have a function be called in the place of all of two arguments that go through values one by one.

    Parameters
    ----------
    x_type, y_type : type
        The classes of the arguments.

    Returns
    -------
    Callable
        A decorator for a function that is called with TensorFlow's function and both arguments.

    """
    return _elementwise(BINARY, [x_type, y_type])


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """Have a function be called in the place of all claims about two arguments that go through values one by one.

    Parameters
    ----------
    x_type, y_type : type
        The classes of the arguments.

    Returns
    -------
    Callable
        A decorator for a function that is called with TensorFlow's function and both arguments.

    """
    return _elementwise(CLAIMS, [x_type, y_type])


def unregister_dispatch_for(dispatch_target):
    """Have a function no longer be called in the place of others.

    Parameters
    ----------
    dispatch_target : Callable
        The function.

    """
    held = [one for one in _dispatchers if any(entry[2] is dispatch_target for entry in one.targets)]
    if not held:
        raise ValueError(f"Function {dispatch_target} was not registered.")
    for dispatcher in held:
        dispatcher.targets = [entry for entry in dispatcher.targets if entry[2] is not dispatch_target]
