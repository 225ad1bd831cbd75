"""Whether a branch or loop becomes part of a graph, and how its state goes into one."""
import collections

from dragon import _C
from dragon.core.capture.control import Control, PassedOn, is_refusal
from dragon.core.capture.settings import captures, is_capturing
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

flow = Control(ops, convert_to_tensor, waits_to_be_asked=True)

_Slot = collections.namedtuple("_Slot", "parts")  # stands for an object that is told by tensors: a TensorArray


def is_tensor(value):
    """Return whether a value is a tensor or variable that graphs hold."""
    return isinstance(value, _C.Tensor)


def is_staged(value):
    """Return whether a branch or loop that depends on a value becomes part of a graph."""
    return isinstance(value, _C.Tensor) and is_capturing() and not _failure()


def _failure():
    """Return why the capture in progress has given up, if it has."""
    return getattr(getattr(captures()[-1], "trace", None), "failure", None)


def condition(value, tag):
    """Return a condition as a scalar of bools, or raise the ValueError that TensorFlow does."""
    value = convert_to_tensor(value)
    hint = "to use as boolean Tensor, use `tf.cast`; to check for None, use `is not None`"
    if value.dtype.name != "bool" or _C.Tensor.size.__get__(value) != 1:
        raise ValueError(f"condition of {tag} expected to be `tf.bool` scalar, got a tensor of shape {value.shape} and "
                         f"dtype {value.dtype.name}; {hint}")
    return ops.reshape(value, ()) if value.ndim else value


def guarded(function):
    """Return a function whose errors are the user's: they pass through the making of a graph.

    Errors of a trace that has given up are reasons for there being no graph; Python goes on then.
    """
    def run(*args):
        try:
            return function(*args)
        except PassedOn:
            raise
        except Exception as error:
            if is_refusal(error) or captures() and _failure():
                raise
            raise PassedOn(error) from error
    return run


def attempt(make, *args):
    """Return what a method of `flow` makes of functions; errors of theirs are raised as they were."""
    try:
        return make(*args)
    except PassedOn as passed:
        error = passed.error
    raise error


def packed(value, kinds):
    """Return a value of a state as a structure of tensors; `kinds` remembers the objects that tensors tell."""
    if hasattr(type(value), "_staged_parts"):
        parts = value._staged_parts()
        kinds.append(value)
        return _Slot(parts)
    if isinstance(value, dict):
        return type(value)((key, packed(item, kinds)) for key, item in value.items())
    if isinstance(value, (list, tuple)) and type(value).__module__ != "dragon._C":
        items = [packed(item, kinds) for item in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    return value


def unpacked(value, kinds):
    """Return what `packed` had; `kinds` is an iterator over what it remembered."""
    if type(value) is _Slot:
        return next(kinds)._from_parts(value.parts)
    if isinstance(value, dict):
        return type(value)((key, unpacked(item, kinds)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        items = [unpacked(item, kinds) for item in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    return value
