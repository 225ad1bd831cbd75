"""The stack of dispatch modes of this thread, and the classes of arguments that handle an operator."""
import threading

from dragon.core import modes as switches
from dragon.core.scopes import Scope
from dragon.vm.torch.core.overrides import count_modes
from dragon.vm.torch.core.tensor import Tensor

_local = threading.local()
PLAIN = (int, float, bool, str, bytes, complex, type(None))


def _disabled_torch_dispatch_impl(func, types, args=(), kwargs=None):
    """Call the operator as if its arguments were plain tensors; what a class says to be left alone."""
    with asking_nobody():
        return func(*args, **(kwargs or {}))


def dispatch_modes():
    """Return this thread's modes, the innermost last."""
    if not hasattr(_local, "modes"):
        _local.modes = []
    return _local.modes


def count_packer(scope):
    """Count one more who packs what this thread saves for backward passes, until an ExitStack ends."""
    scope.set(_local, "packers", getattr(_local, "packers", 0) + 1)


def is_packing():
    """Return whether anybody packs what this thread saves."""
    return getattr(_local, "packers", 0) > 0


class without_modes(Scope):
    """Have no mode of operators, within a `with` block; which ones stay may be said."""

    def __init__(self, kept=()):
        self.kept = kept

    def _enter_scope(self, exits):
        """Have none from now on; return those that there were."""
        before = dispatch_modes()
        exits.callback(count_modes)
        exits.set(_local, "modes", list(self.kept))
        count_modes()
        return before


class asking_nobody(Scope):
    """Ask neither classes nor modes for operators within a `with` block."""

    def _enter_scope(self, exits):
        """Ask nobody from now on."""
        exits.set(_local, "silent", True)


class _DisableTorchDispatch:
    """Ask neither classes nor modes for operators as long as the object lives."""

    def __init__(self):
        self.before, _local.silent = is_silent(), True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ask again, as before."""
        if self.before is not None:
            _local.silent, self.before = self.before, None

    __del__ = end


class beneath_gradients(Scope):
    """Record nothing within a `with` block in which somebody answers for an operator."""

    def _enter_scope(self, exits):
        """Record nothing from now on, and remember whether calls were recorded."""
        exits.set(_local, "recorded", switches.is_recording())
        exits.switch(switches.set_recording, False)


def records_above():
    """Return whether calls are recorded where the operator was called that is answered for at present."""
    above = getattr(_local, "recorded", None)
    return switches.is_recording() if above is None else above


def is_silent():
    """Return whether nobody is asked at present."""
    return getattr(_local, "silent", False)


def answers(kind):
    """Return whether a class answers for operators."""
    found = getattr(kind, "__torch_dispatch__", None)
    return found is not None and found is not _disabled_torch_dispatch_impl and getattr(
        found, "__func__", None) is not _disabled_torch_dispatch_impl


def who_answers(args, kwargs):
    """Return the arguments whose classes answer for operators: subclasses before their bases, each class once."""
    found = []
    for value in _those_within(args, kwargs):
        kind = type(value)
        if kind is Tensor or not isinstance(value, Tensor) or not answers(kind) or any(
                kind is type(other) for other in found):
            continue
        place = next((index for index, other in enumerate(found) if isinstance(value, type(other))), len(found))
        found.insert(place, value)
    return found


def _those_within(args, kwargs):
    """Return what arguments hold; at once where they hold no lists, as those of most calls."""
    values = (*args, *kwargs.values()) if kwargs else args
    for value in values:
        if type(value) not in PLAIN and not isinstance(value, Tensor):
            return leaves(args, kwargs)
    return values


def leaves(*trees):
    """Yield what lists, tuples and dictionaries hold, at any depth."""
    for tree in trees:
        if isinstance(tree, Tensor) or type(tree) in PLAIN:
            yield tree
        elif isinstance(tree, (list, tuple)):
            yield from leaves(*tree)
        elif isinstance(tree, dict):
            yield from leaves(*tree.values())
        else:
            yield tree


def is_wanted(args, kwargs):
    """Return whether a mode, or the class of an argument, answers for an operator."""
    return not is_silent() and (bool(dispatch_modes()) or bool(who_answers(args, kwargs)))
