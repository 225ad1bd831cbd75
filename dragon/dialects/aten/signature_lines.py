"""What a line of PyTorch's table of operators says, in parts: for scripts, which make types of it, and for exports."""
import ast
import re
from typing import Any, List, NamedTuple, Optional

_WORDS = {"None": None, "True": True, "False": False, "Mean": 1, "contiguous_format": 0, "long": 4,
          "inf": float("inf"), "-inf": -float("inf")}
# `Tensor(a)`, where `Future(t)` is a type of a type.
_ALIAS = re.compile(r"(?<!Future)(?<!Await)(?<!RRef)(?<!Tuple)\(([a-z]\d*(?: -> [*a-z|]+)?!?|\*)\)")


class Part(NamedTuple):
    """An argument, or a result."""

    type: str  # without aliases: "Tensor?", "SymInt[2]", "Dict(str, Tensor)"
    name: str  # empty without
    alias: str  # "a", "a!" where it is written to, empty without
    has_default: bool = False
    default: Any = None
    by_name: bool = False


class Line(NamedTuple):
    """An operator's overload."""

    name: str  # "aten::add"
    overload: str  # "Tensor", empty for the one without a name
    arguments: List[Part]
    results: Optional[List[Part]]  # None where nothing is said of them
    is_nested: bool  # whether the results stand in brackets
    is_open: bool  # whether it takes any further arguments


def _cuts(text, sign):
    """Return the places of a sign that stands in no brackets and no quotes."""
    places, depth, quote, before = [], 0, "", ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and before != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter == sign and depth == 0:
            places.append(place)
        else:
            depth += (letter in "([") - (letter in ")]")
        before = letter
    return places


def _split(text):
    """Return the parts between commas."""
    if not text.strip():
        return []
    places = [-1, *_cuts(text, ","), len(text)]
    return [text[start + 1:end].strip() for start, end in zip(places, places[1:])]


def _value(text):
    """Return a default."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "'\"":
        return ast.literal_eval(text)
    if text[0] == "[":
        return [_value(item) for item in _split(text[1:-1])]
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text  # a word of C++, such as `float`


def _part(text, by_name=False):
    """Return what a piece says."""
    equals = _cuts(text, "=")
    head, default = (text[:equals[0]].strip(), text[equals[0] + 1:].strip()) if equals else (text, None)
    spaces = _cuts(head, " ")
    kind, name = (head[:spaces[-1]], head[spaces[-1] + 1:]) if spaces else (head, "")
    alias = _ALIAS.search(kind)
    return Part(_ALIAS.sub("", kind), name, alias.group(1) if alias else "", default is not None,
                None if default is None else _value(default), by_name)


def read_line(text):
    """Return what a line says.

    Parameters
    ----------
    text : str
        Such as "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".

    Returns
    -------
    Line
        The same in parts.

    """
    head, bracket, tail = text.partition("(")
    taken, arrow, given = tail.rpartition(" -> ")
    if not bracket or not arrow or not taken.rstrip().endswith(")"):
        raise ValueError(f"schema: got {text!r}, expected 'name(arguments) -> results'")
    name, _, overload = head.partition(".")
    arguments, by_name, is_open, given = [], False, False, given.strip()
    for piece in _split(taken.rstrip()[:-1]):
        if piece == "*":
            by_name = True
        elif piece == "...":
            is_open = True
        else:
            arguments.append(_part(piece, by_name))
    is_nested = given.startswith("(") and given.endswith(")")
    results = None if given == "..." else [_part(piece) for piece in (_split(given[1:-1]) if is_nested else [given])]
    return Line(name.strip(), overload.strip(), arguments, results, is_nested, is_open)


def spread(default, kind):
    """Return a default as lists of a known length have it: one number stands for all.

    Parameters
    ----------
    default : Any
        As the line says it.
    kind : str
        The argument's type, such as "SymInt[2]".

    Returns
    -------
    Any
        The default.

    """
    size = re.search(r"\[(\d+)\]", kind)
    return [default] * int(size.group(1)) if size and type(default) in (int, float) else default
