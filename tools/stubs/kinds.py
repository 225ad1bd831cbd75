"""Kinds of values, as docstrings and schemas say them, and how a stub writes them.

A kind is `Kind(head, parts)`: its head is a class, or a word of `typing` such as "Union". What is not understood is
ANY, so a stub may say too little of a value, and never what is wrong.
"""
import ast
import re
from functools import cache
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of values."""

    head: object
    parts: tuple = ()


ANY = Kind("Any")
NONE = Kind(type(None))
CALLABLE = Kind("Callable")
BUILTIN = {kind.__name__: Kind(kind) for kind in (int, float, bool, str, bytes, complex, object, slice, range, list,
                                                  tuple, dict, set, frozenset, type)}
WORDS = {**BUILTIN, "None": NONE, "number": Kind("Union", (BUILTIN["int"], BUILTIN["float"])), "callable": CALLABLE,
         "Callable": CALLABLE, "function": CALLABLE, "Any": ANY, "string": BUILTIN["str"]}
# What docstrings call a collection, and what `typing` does.
GENERIC = {"Tuple": "Tuple", "tuple": "Tuple", "List": "List", "list": "List", "Dict": "Dict", "dict": "Dict",
           "Set": "Set", "set": "Set", "Sequence": "Sequence", "Iterable": "Iterable", "Iterator": "Iterator",
           "Mapping": "Mapping", "Generator": "Iterator", "Union": "Union", "Optional": "Optional", "Type": "Type",
           "type": "Type"}
TAIL = re.compile(r",? *(optional|default ?[=:].*|keyword.only)\b.*$")
BARE = {"Sequence", "Iterable", "Iterator", "Mapping"}


def union(*kinds):
    """Return the kind of what may be of several."""
    flat = []
    for kind in kinds:
        flat += kind.parts if kind.head == "Union" else (kind,)
    flat = tuple(dict.fromkeys(flat))
    return flat[0] if len(flat) == 1 else Kind("Union", flat)


def read_kind(text, find):
    """Return the kind that a docstring says.

    Parameters
    ----------
    text : str
        Such as `Union[int, Sequence[int]], optional, default=-1`.
    find : Callable[[str], Optional[type]]
        From the name of a class to the class.

    Returns
    -------
    Kind
        ANY for what is no expression of kinds.

    """
    node = parse(cut_tail(text).strip().replace(" or ", " | "))
    return ANY if node is None else read_node(node, find)


@cache
def parse(text):
    """Return the node of an expression, or None."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def cut_tail(text):
    """Return a docstring's type without what follows it: `optional`, the default."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and not depth and TAIL.match(text[place:]):
            return text[:place]
    return "" if text.strip() == "optional" else text


def read_node(node, find):
    """Return the kind that an expression says."""
    if isinstance(node, ast.Constant):
        return NONE if node.value is None else ANY if node.value is ... else Kind(type(node.value))
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        if name in WORDS:
            return WORDS[name]
        if name in BARE:
            return Kind(GENERIC[name], (ANY, ANY) if name == "Mapping" else (ANY,))
        found = find(name)
        return ANY if found is None else Kind(found)
    if isinstance(node, ast.Set):  # the words that an argument may be
        return union(*(read_node(item, find) for item in node.elts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return union(read_node(node.left, find), read_node(node.right, find))
    if isinstance(node, ast.Tuple):
        return Kind("Tuple", tuple(read_node(item, find) for item in node.elts))
    if isinstance(node, ast.Subscript):
        return read_generic(node, find)
    return ANY


def read_generic(node, find):
    """Return the kind that `Name[...]` says."""
    name = ast.unparse(node.value)
    if name in ("Callable", "callable", "Literal"):
        return CALLABLE if name != "Literal" else read_node(ast.Set(getattr(node.slice, "elts", [node.slice])), find)
    if name not in GENERIC:
        return ANY
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    open_ended = isinstance(items[-1], ast.Constant) and items[-1].value is ...
    parts = tuple(read_node(item, find) for item in items[:len(items) - open_ended])
    if GENERIC[name] == "Union":
        return union(*parts)
    if GENERIC[name] == "Optional":
        return union(*parts, NONE)
    if GENERIC[name] == "Tuple":
        return Kind("Tuple...", parts) if open_ended else Kind("Tuple", parts)
    wanted = 2 if GENERIC[name] in ("Dict", "Mapping") else 1
    return Kind(GENERIC[name], (*parts, ANY, ANY)[:wanted])


def as_argument(kind):
    """Return the kind of what may be handed over where a docstring says a kind: a list where it says a tuple."""
    if kind.head in ("Tuple", "Tuple...", "List"):
        return Kind("Sequence", (union(*map(as_argument, kind.parts)) if kind.parts else ANY,))
    if kind.head == "Dict":
        return Kind("Mapping", tuple(as_argument(part) if place else ANY for place, part in enumerate(kind.parts)))
    if kind in (BUILTIN["list"], BUILTIN["tuple"]):
        return Kind("Sequence", (ANY,))
    if kind == BUILTIN["dict"]:
        return Kind("Mapping", (ANY, ANY))
    if kind.head == "Union":
        return union(*map(as_argument, kind.parts))
    return kind


def as_result(kind):
    """Return the kind that a caller may take a result for: where there are several, whichever he expects."""
    if kind.head == "Union":
        rest = [part for part in kind.parts if part != NONE]
        return union(rest[0], ANY) if len(rest) == 1 and len(kind.parts) == 2 else ANY
    return Kind(kind.head, tuple(map(as_result, kind.parts)))


def write(kind, scope):
    """Return a kind as a stub says it.

    Parameters
    ----------
    kind : Kind
        What is meant.
    scope : Scope
        Where it is said; knows how classes are named there.

    """
    if isinstance(kind.head, type):
        if kind == NONE:
            return "None"
        text = scope.name_class(kind.head)
        many = {tuple: "[{any}, ...]", list: "[{any}]", dict: "[{any}, {any}]", set: "[{any}]", frozenset: "[{any}]"}
        return text + many.get(kind.head, "").format(any=scope.name_typing("Any"))
    parts = [write(part, scope) for part in kind.parts]
    if kind.head == "Union":
        return " | ".join(parts)
    if kind.head == "Callable":
        return f"{scope.name_typing('Callable')}[..., {scope.name_typing('Any')}]"
    if kind.head == "Tuple...":
        return f"{scope.name_class(tuple)}[{parts[0]}, ...]"
    if kind.head in ("Tuple", "List", "Dict", "Set", "Type"):
        native = {"Tuple": tuple, "List": list, "Dict": dict, "Set": set, "Type": type}[kind.head]
        return f"{scope.name_class(native)}[{', '.join(parts) or '()'}]"
    if kind.head == "Self":
        return scope.name_self()
    return scope.name_typing(kind.head) + (f"[{', '.join(parts)}]" if parts else "")
