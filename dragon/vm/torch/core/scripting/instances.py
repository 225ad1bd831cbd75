"""Values that only scripts have: instances of their classes, futures; and of what type a value is."""
import types
import weakref

from dragon.vm.torch.core.scripting.types import (
    ANY, ANY_LIST, ANY_TUPLE, BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, NUMBER, STRING, TENSOR, ClassType, DictType,
    EnumType, FutureType, InterfaceType, ListType, OptionalType, TupleType, UnionType, fits)

CLASSES = weakref.WeakKeyDictionary()  # Python's classes that are scripts -> their types


class Future:
    """The result of a fork, which has been computed already."""

    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, value=None, *, devices=None):
        if devices:
            raise ValueError(f"Future: got devices {devices!r}, expected none: there is no accelerator")
        self.value_ = value

    def wait(self):
        """Return the result."""
        return self.value_

    def value(self):
        """Return the result."""
        return self.value_

    def done(self):
        """Return True."""
        return True

    def then(self, callback):
        """Return a future of what a function makes of this one."""
        return Future(callback(self))


class Instance:
    """An instance of a class that came with an archive."""

    _call_script = None  # how methods are called: who runs them enters himself here

    def __init__(self, kind):
        self.__dict__["_script_type"] = kind

    def __getattr__(self, name):
        kind = self.__dict__["_script_type"]
        function = kind.method(name) if not name.startswith("_script") else None
        if function is None:
            raise AttributeError(f"'{kind.qualified}' object has no attribute '{name}'", name=name)
        return lambda *args, **kwargs: type(self)._call_script(function, (self, *args), kwargs)

    def __repr__(self):
        return f"<torch.ScriptObject {self._script_type.qualified}>"


def type_of_instance(value):
    """Return the class that an instance has in scripts."""
    found = getattr(value, "__dict__", {}).get("_script_type")
    if found is None:
        found = CLASSES.get(type(value))
    return found


def is_of(value, kind):
    """Return whether a value is of a type, as far as values tell."""
    simple = {INT: int, FLOAT: float, STRING: str, COMPLEX: complex, ANY_LIST: list, ANY_TUPLE: tuple}
    if kind == ANY:
        return True
    if kind == NONE:
        return value is None
    if kind == BOOL or isinstance(value, bool):
        return kind in (BOOL, NUMBER) and isinstance(value, bool)
    if kind == NUMBER:
        return isinstance(value, (int, float, complex))
    if kind in simple:
        return isinstance(value, simple[kind])
    if kind == TENSOR:
        return hasattr(value, "requires_grad") and hasattr(value, "dtype")
    if isinstance(kind, (OptionalType, UnionType)):
        options = (kind.element, NONE) if isinstance(kind, OptionalType) else kind.options
        return any(is_of(value, option) for option in options)
    if isinstance(kind, FutureType):
        return isinstance(value, Future)
    if type(kind) is ListType:
        return isinstance(value, list) and all(is_of(part, kind.element) for part in value)
    if isinstance(kind, DictType):
        return isinstance(value, dict) and all(
            is_of(key, kind.index) and is_of(part, kind.value) for key, part in value.items())
    if isinstance(kind, TupleType):
        return isinstance(value, tuple) and len(value) == len(kind.elements) and all(map(is_of, value, kind.elements))
    if isinstance(kind, EnumType):
        return isinstance(value, kind.made)
    if kind == DEVICE:
        return type(value).__name__ == "device"
    if isinstance(kind, (ClassType, InterfaceType)):
        found = type_of_instance(value)
        return found is not None and fits(found, kind)
    return True
