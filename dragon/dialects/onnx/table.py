"""The table of ONNX's operators, read when first asked for, in either direction."""
import ast
import functools
import math
import pathlib
from typing import Any, Dict, NamedTuple, Optional, Tuple

from dragon import _C
from dragon.dialects.rows import Row, compile_row, read_rows

ROOM = pathlib.Path(__file__).parent
WRITER = "w"  # the argument that a row's function has before the operator's
# What rows say that is Python's.
WORDS = {"math": math, "bool": bool, "float": float, "int": int, "list": list, "range": range, "len": len}


@functools.cache
def rows():
    """Return all rows.

    Returns
    -------
    Dict[str, Row]
        By the engine's name of an operator.

    """
    found = {}
    for path in sorted(ROOM.glob("*.txt")):
        for row in read_rows(path.read_text(encoding="utf-8"), path.name):
            if row.name in found:
                raise ValueError(f"{row.place}: got a second row for {row.name}, which is told in "
                                 f"{found[row.name].place}")
            found[row.name] = row
    return found


def function_of(name):
    """Return the function that the table has for an operator, or None.

    Parameters
    ----------
    name : str
        The engine's name.

    Returns
    -------
    Optional[Callable]
        A function of the writer and the operator's arguments.

    """
    row = rows().get(name)
    if row is None:
        return None
    arguments = [(WRITER, False, None), *((part["name"], part["has_default"], part["default"])
                                          for part in _C.schema(name)["arguments"])]
    return compile_row(row, arguments, WORDS.get, owner=WRITER)


@functools.cache
def brought_together(name):
    """Return the tensors of an operator which have one dtype: those of one by elements, but for what its row casts.

    Parameters
    ----------
    name : str
        The engine's name.

    Returns
    -------
    Tuple[str, ...]
        Names of arguments.

    """
    schema = _C.schema(name)
    if not schema["pointwise"]:
        return ()
    cast = {node.args[0].id for node in ast.walk(ast.parse(rows()[name].text)) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name) and node.func.id in ("cast", "truth")
            and isinstance(node.args[0], ast.Name)}
    return tuple(part["name"] for part in schema["arguments"]
                 if part["type"].startswith("Tensor") and part["name"] not in cast)


class Reading(NamedTuple):
    """What a node of ONNX is: a call of one of the engine's operators."""

    operator: str  # the engine's name
    inputs: Tuple[str, ...]  # the operator's argument that each input of the node is
    attributes: Dict[str, str]  # {attribute of the node: the operator's argument}
    fixed: Dict[str, Any]  # {attribute of the node: the number that it must be}
    row: Row  # which says so
    conditions: Tuple[Tuple[str, bool], ...]  # expressions of the operator's arguments, and what each must be


@functools.cache
def readings():
    """Return what nodes of ONNX are in the engine's operators, by rows that are one call of a node, or so at times.

    A reading holds for tensors of the dtype that the operator computes in, where its conditions do.

    Returns
    -------
    Dict[str, List[Reading]]
        By ONNX's name of an operator.

    """
    found = {}
    for row in rows().values():
        first, *others = ast.parse(row.text).body
        for call, conditions in _branches(first.value, ()) if not others else ():
            reading = _read(row, call, conditions)
            if reading is not None:
                found.setdefault(call.func.id, []).append(reading)
    return found


def _branches(node, conditions):
    """Yield each expression that another may come to, and what is then true or not."""
    if not isinstance(node, ast.IfExp):
        yield node, conditions
        return
    for part, truth in ((node.body, True), (node.orelse, False)):
        yield from _branches(part, (*conditions, (ast.unparse(node.test), truth)))


def _read(row, call, conditions) -> Optional[Reading]:
    """Return a call of a node as a reading, or None where it is none that can be read backwards."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id[0].isupper()):
        return None
    known = {part["name"]: part for part in _C.schema(row.name)["arguments"]}
    inputs = [_argument(node) for node in call.args]
    attributes, fixed = {}, {}
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name):
            attributes[keyword.arg] = keyword.value.id
        else:
            fixed[keyword.arg] = _number(keyword.value)
    given = {*inputs, *attributes.values()}
    if not given <= set(known) or None in fixed.values() or len(set(inputs)) < len(inputs):
        return None
    if any(not part["has_default"] and name not in given for name, part in known.items()):
        return None
    return Reading(row.name, tuple(inputs), attributes, fixed, row, conditions)


def _argument(node):
    """Return the name of an argument, which may be cast or looked at as a truth; None for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("cast", "truth"):
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else None


def _number(node):
    """Return the number that an expression is, or None."""
    try:
        return eval(compile(ast.Expression(node), "a row", "eval"), {"math": math})
    except Exception:  # whatever it needs is an argument's
        return None
