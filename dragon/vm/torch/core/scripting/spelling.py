"""Steps of scripts that are an expression of Python."""
import keyword
import math

from dragon.core.python_operators import COMPARISONS
from dragon.vm.torch.core.scripting.types import (
    ANY, BOOL, COMPLEX, FLOAT, INT, NONE, NOTHING, NUMBER, STRING, TENSOR, ClassType, DictType, ListType, TupleType,
    options_of)

BINARY = {"aten::add": "+", "aten::sub": "-", "aten::mul": "*", "aten::matmul": "@", "aten::eq": "==", "aten::ne": "!=",
          "aten::lt": "<", "aten::le": "<=", "aten::gt": ">", "aten::ge": ">="}
COMPARING = tuple(f"aten::{name}" for name in COMPARISONS)
TAKEN = set()  # names that scripted modules have for themselves: who defines them enters them
NUMBERS = (INT, FLOAT, BOOL, COMPLEX, NUMBER)


def literal(value):
    """Return how Python writes a constant, or None where it cannot be written."""
    if value is None or isinstance(value, (bool, str)) and type(value) in (bool, str):
        return repr(value)
    if type(value) is int or type(value) is float and math.isfinite(value):
        return f"({value!r})"
    if type(value) is list:
        parts = list(map(literal, value))
        return None if None in parts else f"[{', '.join(parts)}]"
    return None


def spell(node, told):
    """Return a step as an expression, or None if there is no short one."""
    name, kinds = node.kind_, [value.type for value in node.inputs_]
    if name in BINARY:
        return binary(node, name, kinds, told)
    speller = SPELLERS.get(name)
    return speller(node, kinds, told) if speller is not None else None


def binary(node, name, kinds, told):
    """Return `one op other` for numbers, texts, lists and tensors."""
    if len(kinds) == 3 and name in ("aten::add", "aten::sub"):
        if not literal_one(node, 2):
            return None
        kinds = kinds[:2]
    if len(kinds) != 2:
        return None
    one, other = kinds
    whole = f"({told[0]} {BINARY[name]} {told[1]})"
    if one == TENSOR:
        return whole if other == TENSOR or other in NUMBERS else None
    if name in COMPARING:
        return whole if one in (*NUMBERS, STRING) and other in (*NUMBERS, STRING) else None
    if one in (INT, FLOAT) and other in (INT, FLOAT):
        return whole
    return whole if name == "aten::add" and one == other and (one == STRING or type(one) is ListType) else None


def is_row(kind):
    """Return whether a type is a list."""
    return type(kind) is ListType


def item(node, kinds, told):
    """Return an element; a dictionary's and a text's errors say more when a function raises them."""
    return f"{told[0]}[{told[1]}]" if is_row(kinds[0]) else None


def is_in(node, kinds, told):
    """Return whether an element is there."""
    if is_row(kinds[0]) and kinds[0].element in (INT, STRING, BOOL) or isinstance(kinds[0], DictType):
        return f"({told[1]} in {told[0]})"
    return None


def size(node, kinds, told):
    """Return the sizes, or one of them."""
    return f"list({told[0]}.shape)" if len(told) == 1 else f"{told[0]}.size({told[1]})" if kinds[1] == INT else None


def range_length(node, kinds, told):
    """Return how many numbers a range has."""
    step = node.inputs_[2].node
    is_known = step is not None and step.kind_ == "prim::Constant" and step.attributes["value"] != 0
    return f"len(range({told[0]}, {told[1]}, {told[2]}))" if is_known else None


def cast(node, kinds, told):
    """Return the value where it cannot be None, or may be."""
    wanted = node.outputs_[0].type
    is_open = NONE in options_of(wanted) or wanted in (ANY, NOTHING)
    return told[0] if is_open or NONE not in options_of(kinds[0]) and kinds[0] != ANY else None


def make_tuple(node, kinds, told):
    """Return a tuple; named ones are made by their class."""
    return None if getattr(node.outputs_[0].type, "made", None) else f"({''.join(part + ', ' for part in told)})"


def unpack_tuple(node, kinds, told):
    """Return a tuple, which the line takes apart."""
    return told[0] if isinstance(kinds[0], TupleType) else None


def attribute(node, kinds, told):
    """Return an attribute of a module by where it lies, of an instance by its name."""
    name, kind = node.attributes["name"], kinds[0]
    if not isinstance(kind, ClassType):
        return None
    is_free = name.isidentifier() and not keyword.iskeyword(name)
    if not kind.is_module:
        return f"{told[0]}.{name}" if is_free and not hasattr(kind.made, name) else None
    if name in kind.parameters:
        return f"{told[0]}._parameters[{name!r}]"
    if name in kind.buffers:
        return f"{told[0]}._buffers[{name!r}]"
    if isinstance(kind.attributes.get(name), ClassType) and kind.attributes[name].is_module:
        return f"{told[0]}._modules[{name!r}]"
    return f"{told[0]}.{name}" if is_free and name not in TAKEN else None


SPELLERS = {
    "aten::__not__": lambda node, kinds, told: f"(not {told[0]})",
    "aten::__is__": lambda node, kinds, told: f"({told[0]} is {told[1]})",
    "aten::__isnot__": lambda node, kinds, told: f"({told[0]} is not {told[1]})",
    "aten::rsub": lambda node, kinds, told: f"({told[1]} - {told[0]})" if literal_one(node, 2) else None,
    "aten::neg": lambda node, kinds, told: f"(-{told[0]})" if kinds[0] in (INT, FLOAT, TENSOR) else None,
    "aten::remainder": lambda node, kinds, told: f"({told[0]} % {told[1]})" if kinds == [INT, INT] else None,
    "aten::floordiv": lambda node, kinds, told: f"({told[0]} // {told[1]})" if kinds == [INT, INT] else None,
    "aten::len": lambda node, kinds, told: f"len({told[0]})",
    "aten::dim": lambda node, kinds, told: f"{told[0]}.dim()",
    "aten::size": size, "aten::__getitem__": item, "aten::__contains__": is_in,
    "aten::__range_length": range_length,
    "aten::__derive_index": lambda node, kinds, told: f"({told[1]} + {told[0]} * {told[2]})",
    "prim::ListConstruct": lambda node, kinds, told: f"[{', '.join(told)}]",
    "prim::TupleConstruct": make_tuple, "prim::TupleUnpack": unpack_tuple,
    "prim::TupleIndex": lambda node, kinds, told: f"{told[0]}[{told[1]}]",
    "prim::Uninitialized": lambda node, kinds, told: "None", "prim::unchecked_cast": cast, "prim::GetAttr": attribute}


def literal_one(node, number):
    """Return whether an argument is the constant 1, or is left out."""
    if len(node.inputs_) <= number:
        return True
    found = node.inputs_[number].node
    return found is not None and found.kind_ == "prim::Constant" and found.attributes["value"] == 1
