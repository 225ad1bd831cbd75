"""Which overload of an operator a call means, and its arguments as PyTorch passes them."""
import functools

from dragon.vm.torch.core.aten.kinds import ADDITIVE, IDENTITY, SCALING, kinds_of
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.layout import layout, memory_format

SYNONYMS = {"axis": "dim", "keepdims": "keepdim", "input": "self", "x1": "self", "x2": "other", "tensor": "self"}


@functools.cache
def takes_numbers(name):
    """Return whether an operator takes numbers in the places of tensors: sums, products and quotients of two do."""
    kinds, bare = kinds_of(name), name.removesuffix("_")
    return bare == "floor_divide" or bool(kinds & {ADDITIVE, SCALING}) and IDENTITY not in kinds and bool(
        overloads(f"{bare}_")) and all(len(one.arguments) > 1 for one in overloads(name).values())


_of_tensors = {}  # by an operator's name, or a schema's text, and how many arguments: calls with tensors alone


class NoOverload(TypeError):
    """No overload takes these arguments."""


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value):
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _is_list(value, test):
    return isinstance(value, (list, tuple)) and all(map(test, value))


def _fits(kind, value, numbers):
    """Return whether a value is of a type, in a schema's words."""
    if kind.endswith("?"):
        return value is None or _fits(kind[:-1], value, numbers)
    if kind.endswith("]"):
        inner, _, size = kind[:-1].rpartition("[")
        if size and not isinstance(value, (list, tuple)):
            return _fits(inner, value, False)
        is_other = size and int(size) > 1 and isinstance(value, (list, tuple)) and len(value) not in (0, 1, int(size))
        return _is_list(value, lambda item: _fits(inner, item, False)) and not is_other
    if kind == "Tensor":
        return isinstance(value, Tensor) or numbers and isinstance(value, (int, float, complex))
    return _TESTS.get(kind, lambda value: False)(value)


_TESTS = {
    "int": _is_int, "SymInt": _is_int, "Scalar": lambda value: isinstance(value, (int, float, complex)),
    "float": _is_number, "bool": lambda value: isinstance(value, bool), "str": lambda value: isinstance(value, str),
    "ScalarType": lambda value: isinstance(value, dtype), "Layout": lambda value: isinstance(value, layout),
    "Device": lambda value: isinstance(value, (device, str)) or _is_int(value),
    "MemoryFormat": lambda value: isinstance(value, memory_format),
    "Generator": lambda value: type(value).__name__ == "Generator",
}


def _plain(kind, value):
    """Return a value as an operator of PyTorch's takes it: a list where one number stands for it, floats as floats."""
    kind = kind.rstrip("?")
    if value is None:
        return None
    if kind.endswith("]"):
        inner, _, size = kind[:-1].rpartition("[")
        if not isinstance(value, (list, tuple)):
            value = [value] * int(size)
        elif size and len(value) == 1 and inner in ("int", "SymInt", "float"):
            value = list(value) * int(size)
        return [_plain(inner, item) for item in value]
    if kind == "float" and isinstance(value, int) and type(value) is int:
        return float(value)
    if kind == "Device":
        return device(value)
    return value


def bind(schema, args, kwargs, gathers=True):
    """Return the values of a schema's arguments, or None where the call does not fit.

    Parameters
    ----------
    schema : Schema
        The overload.
    args : Sequence[Any]
        The positional arguments.
    kwargs : Dict[str, Any]
        The arguments by name.
    gathers : bool, optional, default=True
        Whether numbers behind each other may stand for a list of them, as in `x.view(2, 3)`.

    Returns
    -------
    Optional[Dict[str, Any]]
        By name; those that were not given are missing.

    """
    names = [argument for argument in schema.arguments if not argument.kwarg_only]
    args = list(args)
    for place, argument in enumerate(names[:len(args)]) if gathers else ():
        kind = argument.type.rstrip("?")
        if kind in ("int[]", "SymInt[]") and len(args) > place and _is_int(args[place]):
            count = next((number for number, item in enumerate(args[place:]) if not _is_int(item)), len(args) - place)
            args[place:place + count] = [args[place:place + count]]
    if len(args) > len(names):
        return None
    values = {argument.name: value for argument, value in zip(names, args)}
    known = {argument.name: argument for argument in schema.arguments}
    for name, value in kwargs.items():
        if name not in known:
            name = SYNONYMS.get(name, name)
        if name == "self" and name not in known and schema.arguments:
            name = schema.arguments[0].name
        if name not in known or name in values:
            if value is None and name not in values:
                continue
            return None
        values[name] = value
    by_number = takes_numbers(schema.name.rpartition(":")[2])
    for argument in schema.arguments:
        if argument.name not in values:
            if not argument.has_default:
                return None
        elif not _fits(argument.type, values[argument.name], by_number):
            if not (values[argument.name] is None and argument.has_default):
                return None
            del values[argument.name]
    return values


def resolve(name, args, kwargs):
    """Return the overload that a call means, and its arguments without trailing defaults.

    Parameters
    ----------
    name : str
        The operator's, without a namespace.
    args : Sequence[Any]
        The positional arguments.
    kwargs : Dict[str, Any]
        The arguments by name.

    Returns
    -------
    Tuple[str, tuple, dict]
        The overload's name, "default" for the one without, and the arguments.

    Raises
    ------
    NoOverload
        No overload takes them.

    """
    found = _of_tensors.get((name, len(args))) if not kwargs and _are_tensors(args) else None
    if found is not None:
        return found, args if type(args) is tuple else tuple(args), {}
    overload, positional, named = _resolve(name, args, kwargs)
    if not kwargs and not named and _are_tensors(args) and len(positional) == len(args):
        _of_tensors[name, len(args)] = overload  # what is decided by types is the same for all tensors
    return overload, positional, named


def _are_tensors(values):
    for value in values:
        if not isinstance(value, Tensor):
            return False
    return True


def _resolve(name, args, kwargs):
    known = overloads(name)
    # Which overload comes first where several would do: `x.std()` is one with a correction.
    first = ("Tensor", "Tensor_mode") if takes_numbers(name) else ("dim", "correction") if "correction" in known else ()
    tried = *(one for one in first if one in known), *(one for one in known if one not in first)
    for gathers in (False, True):  # `tensor_split(x, 2, 0)` is no list of places
        for overload in tried:
            values = bind(known[overload], args, kwargs, gathers)
            if values is not None:
                return overload, *_written(known[overload], values)
    raise NoOverload(f"{name}: got {', '.join(type(value).__name__ for value in args)}"
                     f"{''.join(f', {key}={type(value).__name__}' for key, value in kwargs.items())}, expected the "
                     f"arguments of one of its overloads: {', '.join(known) or 'it has none'}")


def arguments_of(schema, args, kwargs):
    """Return the arguments of a call of one overload without trailing defaults, or raise NoOverload."""
    key = schema.text, len(args)
    tensors = not kwargs and _are_tensors(args)
    if tensors and key in _of_tensors:
        return args if type(args) is tuple else tuple(args), {}
    values = bind(schema, args, kwargs)
    if tensors and values is not None:
        _of_tensors[key] = True
    if values is None:
        raise NoOverload(f"{schema.name}: got arguments that do not fit {schema.text}")
    return _written(schema, values)


def _written(schema, values):
    """Return positional arguments up to the last that is no default, and those by name."""
    positional, named, pending = [], {}, []
    for argument in schema.arguments:
        given = argument.name in values
        value = _plain(argument.type, values[argument.name]) if given else argument.default_value
        is_default = not given or argument.has_default and _same(value, argument.default_value) and not (
            argument.type == "Scalar" and type(value) is not type(argument.default_value))
        if argument.kwarg_only:
            if not is_default:
                named[argument.name] = value
        elif is_default:
            pending.append(value)
        else:
            positional += [*pending, value]
            pending = []
    return tuple(positional), named


def _same(value, default):
    """Return whether a value is a default."""
    if isinstance(value, Tensor) or type(value) is not type(default) and not (
            _is_number(value) and _is_number(default)):
        return False
    if isinstance(value, list):
        return len(value) == len(default) and all(map(_same, value, default))
    return type(value) in (int, float, bool, str, type(None)) and value == default
