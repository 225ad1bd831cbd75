"""Values of the standard library and of NumPy, made from what files say of them without running anything else.

Constructors call back into what they are given: `dict` asks for `keys`, `list` iterates, NumPy's own functions believe
flags and sizes. These stand in for them, look at what has come first, and make the same values.
"""
import collections
import enum
import functools
import importlib
import math
import re
import reprlib
import sys
import types
import typing

from dragon import _C
from dragon.vm.torch.core.layout import layout
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.storage import TypedStorage, UntypedStorage

RATIONAL = re.compile(r"\s*[-+]?\d{1,4000}(/\d{1,4000})?\s*")
# What can be handed on without calling anything that a file has given: no attributes of the instance decide.
PLAIN_KINDS = {type(None), bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, slice,
               Size, collections.OrderedDict, collections.Counter, collections.defaultdict, collections.deque}
ANNOTATIONS = types.GenericAlias, types.UnionType
OWN_KINDS = _C.Tensor, _C.dtype, layout, TypedStorage, UntypedStorage, enum.Enum
SIMPLE_MODULES = "numpy", "datetime", "decimal", "fractions", "pathlib", "typing", "uuid"
ITERATED = (list, tuple, dict, set, frozenset, str, bytes, collections.OrderedDict, collections.Counter)
FACTORIES = (list, dict, set, tuple, int, float, complex, bool, str, bytes, frozenset, collections.OrderedDict,
             collections.Counter, collections.deque, collections.defaultdict)


def tell(value):
    """Return a value as a short text: what files hold may be endless when it is written out."""
    return reprlib.repr(value) if type(value) in (str, bytes, int, float) else f"a {type(value).__name__}"


def is_plain(value):
    """Return whether a value may be an argument of a function that only wants to look at it."""
    kind = type(value)
    return (kind in PLAIN_KINDS or isinstance(value, type) or issubclass(kind, OWN_KINDS) or kind in ANNOTATIONS or
            kind.__module__.partition(".")[0] in SIMPLE_MODULES or
            kind.__module__.endswith(("torch.core.device", "torch.core.layout")))


# --- how much there is of a value

def count_parts(value, most, parts_of):
    """Return how many parts a value has when each is counted wherever it occurs; none counts within itself.

    Parameters
    ----------
    value : Any
        The value.
    most : int
        More than so many are not told apart.
    parts_of : Callable[[Any], Optional[Iterable]]
        Returns what a value consists of, or None.

    """
    known, waiting, open_parts = {}, [(value, False)], set()
    while waiting:
        part, is_done = waiting.pop()
        if id(part) in known or not is_done and id(part) in open_parts:
            continue
        inner = parts_of(part)
        if inner is None:
            continue
        if is_done:
            known[id(part)] = min(most + 1, 1 + sum(known.get(id(one), 1) for one in inner))
            continue
        open_parts.add(id(part))
        waiting.append((part, True))
        waiting += [(one, False) for one in inner]
    return known.get(id(value), 1)


def hashed_parts(value):
    """Return what is looked at when a value is hashed."""
    if isinstance(value, (tuple, frozenset)):
        return value
    if type(value) in PLAIN_KINDS or isinstance(value, (type, *OWN_KINDS)):
        return None
    return tuple(getattr(value, "__dict__", {}).values()) or None


def written_parts(value):
    """Return what is looked at when a value is written out, or compared."""
    kind = type(value)
    if kind in (dict, collections.OrderedDict):
        return (*value.keys(), *value.values())
    return value if kind in (tuple, list, set, frozenset) else None


# --- the standard library

def _refuse(who, value, expected):
    raise ValueError(f"{who}: got {tell(value)}, expected {expected}")


def _iterating(kind):
    """Return a function that makes a container of one that is there."""
    def make(*arguments):
        for value in arguments[:1]:
            if type(value) not in ITERATED:
                _refuse(kind.__name__, value, "a list, a tuple, a dict or a set")
        if len(arguments) > 1 and (kind is not collections.deque or type(arguments[1]) not in (int, type(None))):
            _refuse(kind.__name__, arguments[1], "one argument")
        return kind(*arguments)
    return make


def make_defaultdict(factory=None, *content):
    """Return a defaultdict whose missing values are empty containers and zeros."""
    inner = factory
    while type(inner) is functools.partial and not inner.keywords and len(inner.args) <= 1:
        if inner.func is not collections.defaultdict:
            break
        inner = inner.args[0] if inner.args else None
    if inner is not None and inner not in FACTORIES:
        _refuse("defaultdict", factory, "None or the class of a container or number")
    if content and type(content[0]) not in (dict, list, tuple):
        _refuse("defaultdict", content[0], "a dict")
    return collections.defaultdict(factory, *content)


def make_fraction(*parts):
    """Return a fraction of a text or of two integers."""
    from fractions import Fraction
    if not (len(parts) == 2 and all(type(part) is int for part in parts) or
            len(parts) == 1 and type(parts[0]) is str and RATIONAL.fullmatch(parts[0])):
        _refuse("Fraction", parts, "a text as '1/2', or two integers")
    return Fraction(*parts)


def make_empty(*parts):
    """Return no bytes, as old pickles say it."""
    if parts:
        _refuse("bytes", parts[0], "nothing")
    return b""


def make_slice(*ends):
    """Return a slice."""
    return slice(*ends)


def make_partial(function, *arguments):
    """Return a function with arguments; what it is, `Trust` has looked at."""
    return functools.partial(function, *arguments)


def make_namespace():
    """Return an empty namespace; its attributes come later."""
    return types.SimpleNamespace()


# --- types as annotations have them

def is_type(value):
    """Return whether a value is a type as annotations say it, or several."""
    kind = type(value)
    return value is None or value is Ellipsis or isinstance(value, type) or kind.__module__ == "typing" or (
        kind in ANNOTATIONS) or kind in (tuple, list) and all(map(is_type, value))


def make_subscripted(origin, inner):
    """Return `List[int]` and its like: the one thing that files use `operator.getitem` for."""
    if type(origin).__module__ != "typing":
        _refuse("getitem", origin, "a type of typing")
    is_literal = origin is typing.Literal and all(
        type(part) in (str, int, bool, bytes, type(None)) for part in (inner if type(inner) is tuple else (inner,)))
    return origin[inner] if is_literal or is_type(inner) else _refuse("getitem", inner, "types")


def make_alternatives(one, other):
    """Return `int | None` and its like: the one thing that files use `operator.or_` for."""
    for value in (one, other):
        is_own = isinstance(value, type) and type(value).__or__ is not type.__or__  # a metaclass's, that is: code
        if is_own or not is_type(value) or type(value) in (tuple, list):
            _refuse("or_", value, "a type")
    return one | other


def make_joined(function, types_):
    """Return `int | None | str` and its like: the one thing that files use `functools.reduce` for."""
    if function is not make_alternatives or type(types_) is not tuple:
        _refuse("reduce", function, "operator.or_, and types")
    return functools.reduce(make_alternatives, types_)


def make_alias(origin, inner):
    """Return `list[int]` and its like."""
    if origin not in (*FACTORIES, type) or not is_type(inner):
        _refuse("GenericAlias", origin, "the class of a container, and types")
    return types.GenericAlias(origin, inner)


def make_type(value):
    """Return the class of one of the constants whose classes have no names."""
    return type(value) if any(value is one for one in (None, Ellipsis, NotImplemented)) else _refuse(
        "type", value, "None")


# --- NumPy

def make_dtype(name, *_):
    """Return NumPy's dtype of a name; what else it has comes later."""
    import numpy
    if not isinstance(name, str) or not re.fullmatch(r"[<>=|]?[?bBhHiIlLqQnNpPefdgcFDGSUVmMOaui]\d{0,9}", name):
        _refuse("dtype", name, "a name like 'f8'")
    return numpy.dtype(name)


def fill_dtype(dtype, state):
    """Return the dtype that a dtype's pickled state tells: an order of bytes, names and places of fields."""
    import numpy
    if type(state) is not tuple or not 3 <= len(state) <= 9:
        _refuse("dtype", state, "a state that NumPy wrote")
    order, inner, names, fields = (*state[1:], None, None, None)[:4]
    if order not in ("<", ">", "=", "|"):
        _refuse("dtype", order, "an order of bytes")
    if inner is not None:
        return numpy.dtype((inner[0], inner[1])) if isinstance(inner[0], numpy.dtype) else _refuse(
            "dtype", inner, "a dtype and a shape")
    if names is not None:
        parts = [fields[name] for name in names] if type(fields) is dict else _refuse("dtype", fields, "a dict")
        if any(not isinstance(part[0], numpy.dtype) or part[0].hasobject for part in parts):
            raise ValueError("dtype: got fields that are no numbers, expected dtypes of numbers")
        return numpy.dtype({"names": list(names), "formats": [part[0] for part in parts],
                            "offsets": [part[1] for part in parts], "itemsize": dtype.itemsize})
    if dtype.kind in "mM" and len(state) == 9 and type(state[8]) is tuple:
        unit, count = state[8][1][:2]
        unit = unit.decode() if isinstance(unit, bytes) else unit
        dtype = numpy.dtype(f"{dtype.kind}8[{int(count)}{unit}]" if unit != "generic" else f"{dtype.kind}8")
    return dtype.newbyteorder("=" if order == NATIVE else order) if order in "<>" else dtype


def make_array(kind, shape=(0,), code=b"b"):
    """Return an empty array; what it holds comes later."""
    import numpy
    if kind is not numpy.ndarray:
        _refuse("_reconstruct", kind, "numpy.ndarray")
    return numpy.empty(0, "int8")


def fill_array(state):
    """Return the array that an array's pickled state tells."""
    import numpy
    if type(state) is not tuple or len(state) != 5 or not isinstance(state[2], numpy.dtype):
        _refuse("ndarray", state, "a state that NumPy wrote")
    _, shape, dtype, by_columns, data = state
    return array_of(data, dtype, shape, "F" if by_columns else "C")


def array_of(data, dtype, shape, order="C"):
    """Return an array of bytes, or of a list of objects."""
    import numpy
    if not isinstance(dtype, numpy.dtype) or type(shape) is not tuple or order not in ("C", "F"):
        _refuse("ndarray", shape, "a shape")
    size = math.prod(shape) if all(type(length) is int and length >= 0 for length in shape) else -1
    if type(data) is list and dtype == object and len(data) == size:
        array = numpy.empty(size, object)
        array[:] = [*data, None][:size]
        return array.reshape(shape, order=order)
    if type(data) not in (bytes, bytearray) or dtype.hasobject or len(data) != size * dtype.itemsize:
        _refuse("ndarray", data, f"{size} elements of {dtype}")
    array = numpy.frombuffer(data, dtype) if data else numpy.empty(size, dtype)
    return array.reshape(shape, order=order).copy(order)


def make_scalar(dtype, data=b""):
    """Return one of NumPy's numbers."""
    import numpy
    if not isinstance(dtype, numpy.dtype) or dtype.hasobject or type(data) not in (bytes, str):
        _refuse("scalar", data, "the bytes of a number")
    data = data.encode("latin1") if isinstance(data, str) else data
    return array_of(data, dtype, (1,))[0]


def make_frombuffer(data, dtype, shape, order="C", *_):
    """Return an array of bytes."""
    return array_of(bytes(data) if type(data) is bytearray else data, dtype, shape, order)


def fill_numpy(instance, state):
    """Return the dtype or array that a state makes of its beginning; None for all else."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(instance, numpy.dtype):
        return fill_dtype(instance, state)
    return fill_array(state) if type(instance) is numpy.ndarray else None


# --- where they are

MAKERS = {
    **{("builtins", kind.__name__): _iterating(kind) for kind in (list, dict, tuple, set, frozenset)},
    **{("collections", kind.__name__): _iterating(kind)
       for kind in (collections.OrderedDict, collections.Counter, collections.deque)},
    ("builtins", "slice"): make_slice,
    ("builtins", "type"): make_type,
    ("builtins", "bytes"): make_empty,
    ("collections", "defaultdict"): make_defaultdict,
    ("fractions", "Fraction"): make_fraction,
    ("functools", "partial"): make_partial,
    ("types", "SimpleNamespace"): make_namespace,
    ("numpy", "dtype"): make_dtype,
    ("numpy", "ndarray"): None,
    ("numpy._core.multiarray", "_reconstruct"): make_array,
    ("numpy._core.multiarray", "scalar"): make_scalar,
    ("numpy._core.numeric", "_frombuffer"): make_frombuffer,
}
# Harmless as they are, given plain arguments; of those named alone, a mere size would take all memory.
AS_THEY_ARE = {
    "builtins": "range float bool complex",
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal",
    "argparse": "Namespace",
    "pathlib": "Path PosixPath PurePath PurePosixPath WindowsPath PureWindowsPath",
    "uuid": "UUID",
}
NAMED_ALONE = {
    "builtins": "object int str bytearray Ellipsis",
    "inspect": "_empty",
    "typing": "Any Callable ClassVar Collection Counter DefaultDict Deque Dict Final FrozenSet Generator Hashable "
              "Iterable Iterator List Literal Mapping MutableMapping MutableSequence MutableSet NamedTuple NoReturn "
              "Optional OrderedDict Sequence Set Sized Text Tuple Type Union",
}
# Called in the place of what files name; they hash what they are given.
STAND_INS = {("_operator", "getitem"): make_subscripted, ("_operator", "or_"): make_alternatives,
             ("builtins", "reduce"): make_joined, ("_functools", "reduce"): make_joined,
             ("types", "GenericAlias"): make_alias}
NOTHING = object()
NATIVE = "<" if sys.byteorder == "little" else ">"


def find_plain(module, name):
    """Return (a value of the standard library or NumPy, the function that makes its instances or None), or NOTHING."""
    if (module, name) in STAND_INS:
        return STAND_INS[module, name], STAND_INS[module, name]
    if (module, name) in MAKERS:
        home = "numpy.core" + module[len("numpy._core"):] if module.startswith("numpy._core") else module
        try:
            found = getattr(importlib.import_module(module), name)
        except ImportError:
            found = getattr(importlib.import_module(home), name)
        return found, MAKERS[module, name]
    if name in AS_THEY_ARE.get(module, "").split():
        found = getattr(importlib.import_module(module), name)
        return found, found
    if name in NAMED_ALONE.get(module, "").split():
        return getattr(importlib.import_module(module), name), None
    if module == "numpy.dtypes":
        found = getattr(importlib.import_module(module), name, NOTHING)
        return (found, None) if isinstance(found, type) else (NOTHING, None)
    return NOTHING, None
