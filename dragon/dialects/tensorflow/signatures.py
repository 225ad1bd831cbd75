"""What TensorFlow's operators take and give: lines of a table, read when first asked for."""
import ast
import functools
import pathlib
import re
from typing import Any, NamedTuple, Optional, Tuple

TABLE = pathlib.Path(__file__).with_name("signatures.txt")
_LINE = re.compile(r"(?P<name>\w+)(?P<arguments>.*?) >(?P<kind>[*0]?)(?P<results>( \w+)*)")
_WORD = re.compile(r"(?P<kind>[@^*]?)(?P<name>\w+)(>(?P<attribute>\w+))?(~(?P<dtype>\w*))?(#(?P<count>\w+))?"
                   r"(:(?P<type>[\w\[\]]*)|=(?P<default>[^{]+))?(\{(?P<bound>.*)\})?")
REQUIRED = object()  # the default of what has none


class Line(NamedTuple):
    """An operator's line in parts."""

    arguments: str  # its inputs and attributes
    results: Tuple[str, ...]  # names
    is_list: bool  # whether its one result is a list of tensors


class Part(NamedTuple):
    """An input or attribute as a line has it."""

    name: str
    attribute: str  # the attribute's name in files
    kind: str  # "@" for dtypes, "^" for shapes, "*" for a list of inputs
    is_input: bool
    dtype: Optional[str]  # the attribute that tells an input's dtype
    count: Optional[str]  # the attribute that tells how many there are
    type: Optional[str]  # of an attribute without default
    default: Any  # a dtype's name as text
    bound: str  # what is in braces


@functools.cache
def lines():
    """Return what is told of operators.

    Returns
    -------
    Dict[str, Line]
        By TensorFlow's names.

    """
    found = map(_LINE.fullmatch, TABLE.read_text(encoding="utf-8").splitlines())
    return {line["name"]: Line(line["arguments"].strip(), tuple(line["results"].split()), line["kind"] == "*")
            for line in found}


def results_of(op):
    """Return the names of an operator's results, none for one that has no line.

    Parameters
    ----------
    op : str
        TensorFlow's name.

    Returns
    -------
    Tuple[str, ...]
        In order.

    """
    line = lines().get(op)
    return line.results if line is not None else ()


def parts_of(line):
    """Return the inputs and attributes of a line.

    Parameters
    ----------
    line : Line
        The line.

    Returns
    -------
    List[Part]
        In its order.

    """
    return [_read_word(word) for word in line.arguments.split()]


@functools.cache
def defaults_of(op):
    """Return the defaults of an operator's attributes, none for one that has no line.

    Parameters
    ----------
    op : str
        TensorFlow's name.

    Returns
    -------
    Dict[str, Any]
        By an attribute's name in files; a dtype's is its name.

    """
    parts = parts_of(lines()[op]) if op in lines() else ()
    return {part.attribute: part.default for part in parts if not part.is_input and part.default is not REQUIRED}


def _read_word(word):
    found = _WORD.fullmatch(word)
    default, kind = found["default"], found["kind"]
    if default is not None and kind != "@":
        default = ast.literal_eval(default)
    elif default is None:
        default = REQUIRED
    return Part(found["name"], found["attribute"] or found["name"], kind,
                found["default"] is None and found["type"] is None, found["dtype"] or None, found["count"],
                found["type"], default, found["bound"] or "")
