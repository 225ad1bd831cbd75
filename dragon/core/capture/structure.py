"""Arguments and results as structures: what they are made of, the tensors in them, and how to make them again."""
import collections
import dataclasses
import enum
import types

from dragon import _C
from dragon.core.capture.code_names import is_library
from dragon.core.capture.sizes import is_followed
from dragon.core.capture.objects import blank, fields_of, is_iterator, is_opaque, reaches_tensors

TENSOR, CONSTANT, TUPLE, LIST, DICT, FIELDS = range(6)  # kinds of arguments, as in register_guard.cc
ANY, SAME, EQUAL, ABSENT, TYPE = range(5)  # what is expected of an entry
SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range)


def is_scalar(value):
    """Return whether a value is a constant by what it says rather than by which object it is."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_scalar, tuple.__iter__(value) if isinstance(value, tuple) else frozenset.__iter__(value)))
    if isinstance(value, slice):
        return all(map(is_scalar, (value.start, value.stop, value.step)))
    return isinstance(value, SCALARS) and not isinstance(value, enum.Enum)


def _follows(value):
    """Return whether a constant has a number in it that follows sizes."""
    if isinstance(value, slice):
        value = value.start, value.stop, value.step
    return any(map(_follows, value)) if isinstance(value, tuple) else is_followed(value)


def is_record(value):
    """Return whether an object is a dataclass with its fields in `__dict__`."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type) and hasattr(value, "__dict__")


def describe(value, path, reach):
    """Return what an argument looks like, for `_C.Guards`.

    Parameters
    ----------
    value : Any
        The argument.
    path : str
        How people call it.
    reach : Callable
        Called with (value, path) for objects that are arguments by identity; returns (mode, expected).

    Returns
    -------
    tuple
        As `Guards.set_arguments` takes it.

    """
    if isinstance(value, _C.Tensor):
        return TENSOR, path, value
    if is_scalar(value):
        return CONSTANT, path, EQUAL, value
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        parts = tuple(describe(item, f"{path}.{names[i]}" if names else f"{path}[{i}]", reach)
                      for i, item in enumerate(value))
        return TUPLE, path, type(value), parts
    if isinstance(value, list):
        parts = tuple(describe(item, f"{path}[{i}]", reach) for i, item in enumerate(list(value)))
        return LIST, path, type(value), parts
    if isinstance(value, dict):
        entries = list(dict.items(value))
        parts = tuple(describe(item, f"{path}[{key!r}]", reach) for key, item in entries)
        return DICT, path, type(value), parts, tuple(key for key, _ in entries)
    if is_record(value):
        fields = list(value.__dict__.items())
        return (FIELDS, path, type(value), tuple(describe(item, f"{path}.{key}", reach) for key, item in fields),
                tuple(key for key, _ in fields))
    return (CONSTANT, path, *reach(value, path))


def borrowed_by(form):
    """Return what `_C.Guards` goes on looking at of what an argument looks like: a tensor's class, not the tensor.

    Parameters
    ----------
    form : tuple
        As `describe` returns it.

    Returns
    -------
    list
        The objects, to be kept as long as the guards are.

    """
    if form[0] == TENSOR:
        return [type(form[2])]
    if form[0] == CONSTANT:
        return [form[3]]
    return [form[2], *form[4:], *(item for part in form[3] for item in borrowed_by(part))]


class Template:
    """A structure with numbers in the places of tensors.

    Parameters
    ----------
    value : Any
        The structure.
    merge : bool, optional, default=True
        Whether the same tensor has the same number wherever it is.
    known : Container[int], optional
        The ids of objects that are what they are, as they were there before; all others that hold tensors, however
        deep, are made again. Without it, objects are looked into that hold tensors themselves.
    whole : tuple, optional, default=()
        Classes whose objects are never looked into.
    private : bool, optional, default=True
        Whether tensors count that an object has under names with an underscore beside others.

    """

    def __init__(self, value, merge=True, known=None, whole=(), private=True):
        self.tensors = []
        self.numbers = []  # those in the structure that follow sizes, or what the program found in tensors
        self.refusal = None  # what the structure holds that cannot be made again
        self._seen = {} if merge else None
        self._known, self._whole, self._private, self._objects = known, whole, private, {}
        self._open = set()  # the ids of containers that are being looked into
        self._root = self._pack(value)
        for place, number in enumerate(self.numbers, start=-len(self.numbers)):
            number.place = place
        self._shares = bool(self._objects)
        del self._seen, self._known, self._whole, self._private, self._objects, self._open

    def _pack(self, value, inside=False):
        if isinstance(value, _C.Tensor):
            number = len(self.tensors) if self._seen is None else self._seen.setdefault(id(value), len(self.tensors))
            if number == len(self.tensors):
                self.tensors.append(value)
            return number
        if is_followed(value):
            self.numbers.append(_Followed(value))
            return self.numbers[-1]
        if type(value) is slice:
            return _Sequence(slice, [self._pack(item, inside) for item in (value.start, value.stop, value.step)])
        if is_scalar(value) and not (isinstance(value, tuple) and any(map(_follows, value))):
            return _Constant(value)
        if isinstance(value, (tuple, list, dict)):
            return self._pack_container(value, inside)
        if self._known is not None:
            return self._pack_object(value, inside)
        if _may_hold_tensors(value):
            return _Record(value, lambda item: self._pack(item, inside))
        return _Constant(value)

    def _pack_container(self, value, inside):
        if id(value) in self._open:
            self.refusal = f"the result holds a {type(value).__name__} that holds itself"
            return _Constant(value)
        self._open.add(id(value))
        try:
            if isinstance(value, dict):
                return _Mapping(value, lambda item: self._pack(item, inside))
            return _Sequence(type(value), [self._pack(item, inside) for item in value])
        finally:
            self._open.discard(id(value))

    def _pack_object(self, value, inside):
        """Return an object as it is, or how another one is made: where it holds tensors, or is a part of such a one."""
        if id(value) in self._known or isinstance(value, self._whole):
            return _Constant(value)
        if id(value) in self._objects:
            return self._objects[id(value)]
        holds = reaches_tensors(value, self._known)
        if is_opaque(value):
            if holds:
                self.refusal = f"the result holds {'' if is_iterator(value) else 'tensors in '}a {type(value).__name__}"
            return _Constant(value)
        if not holds and is_library(type(value).__module__):  # others are somebody's, who may change them
            return _Constant(value)
        if blank(type(value)) is None:
            self.refusal = f"the result holds a {type(value).__name__}, which cannot be made without its arguments"
            return _Constant(value)
        self._objects[id(value)] = made = _Record(value)
        fields = fields_of(value)
        everything = self._private or not any(not name.startswith("_") and reaches_tensors(item, self._known)
                                              for name, item in fields.items())
        made.parts = [self._pack(item, True) if everything or not name.startswith("_") else _Constant(item)
                      for name, item in fields.items()]
        return made

    def signature(self):
        """Return what two templates have in common that differ in nothing but tensors."""
        return _signature(self._root)

    def form(self):
        """Return what two templates have in common that differ in nothing but tensors and plain numbers."""
        return _signature(self._root, form=True)

    def fill(self, tensors):
        """Return the structure with these tensors in it.

        Parameters
        ----------
        tensors : Sequence[Union[Tensor, int, float]]
            As many as `self.tensors`; then as many as `self.numbers`.

        Returns
        -------
        Any
            New containers of the same classes.

        """
        if self._shares:  # an object in several places is one object there too
            tensors = _Shared(tensors)
        return _fill(self._root, tensors)


class _Shared(list):
    """Tensors, and the objects that were made of them."""

    def __init__(self, tensors):
        super().__init__(tensors)
        self.made = {}


class _Constant:
    def __init__(self, value):
        self.value = value

    def fill(self, tensors):
        return self.value


class _Followed:
    """A number that may be another one the next time; `place` counts from the end of what structures are made of."""

    def __init__(self, number):
        self.number, self.value = number.number, number.value

    def fill(self, tensors):
        return tensors[self.place]


class _Sequence:
    def __init__(self, kind, parts):
        self.kind, self.parts = kind, parts

    def fill(self, tensors):
        items = [_fill(part, tensors) for part in self.parts]
        if self.kind is list or self.kind is tuple:
            return self.kind(items)
        if self.kind is slice:
            return slice(*items)
        if hasattr(self.kind, "_make"):
            return self.kind._make(items)
        return tuple.__new__(self.kind, items) if issubclass(self.kind, tuple) else self.kind(items)


class _Mapping:
    """Dictionaries, also those with attributes, as the results of some libraries' models are."""

    def __init__(self, value, pack):
        plain = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        self.kind, items = type(value), dict(plain.items(value))
        self.keys = list(items)
        self.parts = [pack(item) for item in items.values()]
        self.factory = value.default_factory if isinstance(value, collections.defaultdict) else None
        same = {key: part for key, part in zip(self.keys, self.parts) if not isinstance(part, _Constant)}
        # Some libraries' models have their results both as entries and as attributes.
        self.fields = {key: same[key] if key in same and item is items[key] else pack(item)
                       for key, item in list(getattr(value, "__dict__", {}).items())}

    def fill(self, tensors):
        made = self.kind.__new__(self.kind)
        if self.factory is not None:
            made.default_factory = self.factory
        put = collections.OrderedDict.__setitem__ if isinstance(made, collections.OrderedDict) else dict.__setitem__
        entries = {}
        for key, part in zip(self.keys, self.parts):
            entries[id(part)] = entry = _fill(part, tensors)
            put(made, key, entry)
        if self.fields:  # what is an entry as well is the same object
            made.__dict__.update((key, entries[id(part)] if id(part) in entries else _fill(part, tensors))
                                 for key, part in self.fields.items())
        return made


class _Record:
    """Objects with fields."""

    def __init__(self, value, pack=None):
        fields = fields_of(value)
        self.kind, self.keys = type(value), list(fields)
        self.slots = frozenset(fields) - frozenset(getattr(value, "__dict__", ()))
        self.parts = [pack(item) for item in fields.values()] if pack else []

    def fill(self, tensors):
        known = getattr(tensors, "made", {})
        made = known.get(id(self))
        if made is None:
            known[id(self)] = made = blank(self.kind)
            for key, part in zip(self.keys, self.parts):
                item = _fill(part, tensors)
                if key in self.slots:
                    object.__setattr__(made, key, item)
                else:
                    made.__dict__[key] = item
        return made


def _signature(part, outer=(), form=False):
    """Return nested tuples; a constant that cannot be compared is only equal to itself."""
    if isinstance(part, int):
        return part
    if form and isinstance(part, (_Followed, _Constant)) and type(part.value) in (int, float):
        return type(part.value)
    if isinstance(part, _Followed):
        return type(part.value), part.value
    if isinstance(part, _Constant):
        return (type(part.value), part.value) if is_scalar(part.value) else (type(part.value), id(part.value))
    if any(part is other for other in outer):  # an object that holds itself
        return ("above", [part is other for other in outer].index(True))
    outer = (*outer, part)
    fields = tuple(part.fields.items()) if isinstance(part, _Mapping) else ()
    return (part.kind, tuple(getattr(part, "keys", ())), tuple(_signature(item, outer, form) for item in part.parts),
            tuple((key, _signature(item, outer, form)) for key, item in fields))


def _fill(part, tensors):
    return tensors[part] if type(part) is int else part.fill(tensors)


def _may_hold_tensors(value):
    """Return whether an object is one that a function makes to return several things by name."""
    if isinstance(value, (type, types.FunctionType, types.MethodType, types.ModuleType, enum.Enum)):
        return False
    fields = getattr(value, "__dict__", None)
    return bool(fields) and (is_record(value) or any(isinstance(item, _C.Tensor) for item in fields.values()))
