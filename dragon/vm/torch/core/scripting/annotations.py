"""Types that annotations name, in sources and as Python's own objects."""
import ast
import enum
import inspect
import typing

from dragon.core.interrupts import is_interrupt
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.scripting.failures import refuse
from dragon.vm.torch.core.scripting.types import (
    ANY, BOOL, COMPLEX, DEVICE, FLOAT, GENERATOR, INT, NONE, NUMBER, SIMPLE, STRING, TENSOR, DictType, FutureType,
    ListType, TupleType, one_of, optional)

PLAIN = {int: INT, float: FLOAT, bool: BOOL, str: STRING, complex: COMPLEX, type(None): NONE, None: NONE,
         typing.Any: ANY, typing.List: ListType(TENSOR), list: ListType(TENSOR), inspect.Parameter.empty: TENSOR}
WORDS = {"List": ListType, "list": ListType, "Future": FutureType, "RRef": FutureType}


def ast_type(node, names, scripts, place):
    """Return the type that an expression in a source names."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NONE
        if isinstance(node.value, str):
            return ast_type(ast.parse(node.value, mode="eval").body, names, scripts, place)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return one_of([ast_type(part, names, scripts, place) for part in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return subscripted(node, names, scripts, place)
    found = scripts.named_type(node, names, place)
    if found is None:
        refuse(f"Unknown type name '{ast.unparse(node)}'", place)
    return found


def subscripted(node, names, scripts, place):
    """Return the type of `List[int]` and its like."""
    word = ast.unparse(node.value).split(".")[-1]
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if word in ("Tuple", "tuple"):
        return TupleType([ast_type(part, names, scripts, place) for part in parts])
    if word in ("Literal", "Callable", "Type", "Set", "FrozenSet"):
        refuse(f"Unknown type constructor {word}", place)
    kinds = [ast_type(part, names, scripts, place) for part in parts]
    if word in WORDS and len(kinds) == 1:
        return WORDS[word](kinds[0])
    if word in ("Dict", "dict") and len(kinds) == 2:
        return DictType(*kinds)
    if word == "Optional":
        return optional(kinds[0])
    if word == "Union":
        return one_of(kinds)
    if word in ("Final", "Annotated"):
        return kinds[0]
    if word.startswith("BroadcastingList"):
        return ListType(kinds[0])
    try:
        return python_type(scripts.evaluate(node, names), scripts, place)
    except Exception as error:
        if is_interrupt(error):
            raise
        return refuse(f"Unknown type constructor {word} ({error})", place)


def python_type(found, scripts, place=None):
    """Return the type that an annotation as an object names."""
    torch = api()
    if isinstance(found, str):
        return ast_type(ast.parse(found, mode="eval").body, scripts.typing_names, scripts, place)
    if isinstance(found, typing.ForwardRef):
        return python_type(found.__forward_arg__, scripts, place)
    origin, inner = typing.get_origin(found), typing.get_args(found)
    if origin is None:
        try:
            if found in PLAIN:
                return PLAIN[found]
        except TypeError:
            pass
        return plain_class(found, scripts, place, torch)
    if origin in (typing.Union, getattr(__import__("types"), "UnionType", typing.Union)):
        return one_of([python_type(part, scripts, place) for part in inner])
    if origin is list:
        return ListType(python_type(inner[0], scripts, place))
    if origin is dict:
        return DictType(*(python_type(part, scripts, place) for part in inner))
    if origin is tuple:
        if inner and inner[-1] is ...:
            refuse("Tuples of any length aren't supported: expected Tuple with its elements, or List", place)
        return TupleType([python_type(part, scripts, place) for part in inner if part != ()])
    if origin in (typing.Final, typing.Annotated):
        return python_type(inner[0], scripts, place)
    if getattr(origin, "__name__", "") == "Future":
        return FutureType(python_type(inner[0], scripts, place))
    return refuse(f"Unknown type annotation: '{found}'", place)


def plain_class(found, scripts, place, torch):
    """Return the type of a class without parameters."""
    if isinstance(found, type):
        if issubclass(found, torch.Tensor):
            return TENSOR
        if found is torch.Size:
            return ListType(INT)
        if found is torch.device:
            return DEVICE
        if found in (torch.dtype, torch.layout, torch.memory_format):
            return INT
        if found is torch.Generator:
            return GENERATOR
        if issubclass(found, enum.Enum):
            return scripts.enum_type(found)
        if issubclass(found, tuple) and hasattr(found, "_fields"):
            return named_tuple(found, scripts, place)
        made = scripts.interfaces.get(found)
        if made is not None:
            return made
        if issubclass(found, torch.nn.Module) or found in (object,) or found.__module__ in (
                "typing", "builtins", "collections"):
            refuse(f"Unknown type annotation: '{getattr(found, '__name__', found)}'", place)
        return scripts.class_type(found, place)
    if found is torch.types.Number or found is getattr(torch, "Number", None):
        return NUMBER
    return refuse(f"Unknown type annotation: '{found}'", place)


def named_tuple(found, scripts, place):
    """Return the type of a class of named tuples."""
    if found not in scripts.tuples:
        try:
            hints = typing.get_type_hints(found)
        except NameError:
            hints = getattr(found, "__annotations__", {})
        kinds = [python_type(hints[name], scripts, place) if name in hints else TENSOR for name in found._fields]
        ends = [found._field_defaults[name] for name in found._fields if name in found._field_defaults]
        qualified = scripts.qualified(found)
        scripts.tuples[found] = TupleType(kinds, tuple(found._fields), qualified, found, ends)
    return scripts.tuples[found]


BY_NAME = {**SIMPLE, "Tensor": TENSOR, "Device": DEVICE, "number": NUMBER, "NoneType": NONE, "Any": ANY}
