"""What objects hold: their fields, and whether tensors are to be found in them, however deep."""
import collections
import enum
import functools
import types
from collections.abc import Iterator

from dragon import _C
from dragon.core.interrupts import is_interrupt

_CALLABLES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_NOTHING = object()


def fields_of(value):
    """Return {name: value} of what an object has, in slots or without."""
    fields = {}
    for base in type(value).__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name.startswith("__") and not name.endswith("__"):  # as Python names what is private to a class
                name = f"_{base.__name__.lstrip('_')}{name}"
            item = _NOTHING if name in ("__dict__", "__weakref__") else getattr(value, name, _NOTHING)
            if item is not _NOTHING:
                fields[name] = item
    found = getattr(value, "__dict__", None)
    if isinstance(found, dict):
        fields.update(found)
    return fields


def blank(kind):
    """Return an object of a class without any fields; None where the class does not let that be."""
    for make in (object.__new__, kind.__new__):
        try:
            return make(kind)
        except Exception as error:  # a user's class may do anything
            if is_interrupt(error):
                raise
            continue
    return None


def is_filled(cell):
    """Return whether a closure's cell has something in it."""
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def is_iterator(value):
    """Return whether a value is one of Python's own iterators, which are empty when they were gone through once."""
    return isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools")


def is_opaque(value):
    """Return whether no object like this one can be made from its fields."""
    return isinstance(value, (type, types.ModuleType, enum.Enum, set, frozenset, collections.deque, *_CALLABLES)) or (
        is_iterator(value))


def reaches_tensors(value, known=()):
    """Return whether tensors are found in an object, or in what it holds; or iterators, which may give some.

    Parameters
    ----------
    value : Any
        The object.
    known : Container[int], optional, default=()
        The ids of objects that are not looked into.

    Returns
    -------
    bool
        True at the first tensor.

    """
    seen, waiting = set(), [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _C.Tensor):
            return True
        if id(item) not in seen and id(item) not in known:
            if is_iterator(item):
                return True
            seen.add(id(item))
            waiting += _parts_of(item)
    return False


def _parts_of(value):
    """Return what an object holds."""
    if isinstance(value, (type, types.ModuleType, enum.Enum, str, bytes, int, float, complex, type(None))):
        return ()
    if isinstance(value, dict):
        return (*dict.values(value), *fields_of(value).values())
    if isinstance(value, slice):
        return value.start, value.stop, value.step
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return tuple(value)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if is_filled(cell)]
        return (*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    if isinstance(value, (types.MethodType, types.BuiltinFunctionType)):
        return (value.__self__,)
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    return tuple(fields_of(value).values())
