"""Calls of scripts from Python: values come in and are checked, and the program of the graph runs."""
from dragon.vm.torch.core.scripting import kernels
from dragon.vm.torch.core.scripting.instances import Instance, is_of
from dragon.vm.torch.core.scripting.types import (
    ANY, COMPLEX, DEVICE, FLOAT, INT, NUMBER, TENSOR, ClassType, DictType, FutureType, ListType, OptionalType,
    TupleType, UnionType)
from dragon.vm.torch.core.tensor import Tensor


class Unfit(TypeError):
    """A value that is not of the wanted type."""


def convert(value, kind):
    """Return a value of Python in the form that scripts have, or raise Unfit."""
    if kind is TENSOR and isinstance(value, Tensor):
        return value  # first, since most are
    if isinstance(kind, ClassType) and getattr(value, "__dict__", {}).get("_script_type") is kind or kind == ANY:
        return value
    if isinstance(kind, OptionalType):
        return None if value is None else convert(value, kind.element)
    if kind == FLOAT and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == INT and not isinstance(value, (int, float)) or kind == DEVICE:
        value = kernels.plain(value, kind)
    if kind == INT and isinstance(value, bool):
        return int(value)
    if isinstance(kind, UnionType):
        for option in kind.options:
            if is_of(value, option):
                return value
    elif type(kind) is ListType and isinstance(value, (list, tuple, range)) and not isinstance(kind, FutureType):
        return [convert(part, kind.element) for part in value]
    elif isinstance(kind, DictType) and isinstance(value, dict):
        return {convert(key, kind.index): convert(part, kind.value) for key, part in value.items()}
    elif isinstance(kind, TupleType) and isinstance(value, tuple) and len(value) == len(kind.elements):
        parts = [convert(part, inner) for part, inner in zip(value, kind.elements)]
        return kind.made(*parts) if kind.made is not None else tuple(parts)
    elif kind in (INT, FLOAT, COMPLEX, NUMBER) and hasattr(value, "requires_grad") and value.numel() == 1:
        return value.item()
    elif kind == COMPLEX and isinstance(value, (int, float)):
        return complex(value)
    elif is_of(value, kind):
        return value
    raise Unfit


def call_checked(function, args, kwargs):
    """Call a compiled function with values of Python, whose types are checked."""
    function = function.ready()
    schema, values = function.schema, []
    kwargs = dict(kwargs)
    if len(args) > len(schema.arguments):
        raise RuntimeError(f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received "
                           f"{len(args)} argument(s). Declaration: {schema}")
    for number, argument in enumerate(schema.arguments):
        if number < len(args):
            value = args[number]
        elif argument.name in kwargs:
            value = kwargs.pop(argument.name)
        elif argument.has_default:
            value = argument.default
        else:
            raise RuntimeError(f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: "
                               f"{schema}")
        try:
            values.append(convert(value, argument.type))
        except Unfit:
            raise RuntimeError(
                f"{schema.name}() Expected a value of type '{argument.type.annotation()}' for argument "
                f"'{argument.name}' but instead found type '{type(value).__name__}'.\nPosition: {number}\nValue: "
                f"{value!r}\nDeclaration: {schema}") from None
    if kwargs:
        raise RuntimeError(f"Unknown keyword argument '{next(iter(kwargs))}' for operator '{schema.name}'. Schema: "
                           f"{schema}")
    return function.run(*values)


Instance._call_script = staticmethod(call_checked)
