"""The table of NumPy's functions, read when first asked for."""
import functools
import pathlib
from typing import FrozenSet, NamedTuple

from dragon.dialects.rows import read_rows, renamed_call

TABLE = pathlib.Path(__file__).with_name("functions.txt")
FLOATING, TRUTHS, PRODUCT = "floating", "truths", "product"


class NumpyFunction(NamedTuple):
    """What a function of NumPy's is."""

    operator: str  # the engine's
    operands: int
    kinds: FrozenSet[str]


@functools.cache
def functions():
    """Return the functions of the table.

    Returns
    -------
    Dict[str, NumpyFunction]
        By NumPy's name.

    """
    kinds, found = {}, {}
    rows = read_rows(TABLE.read_text(encoding="utf-8"), TABLE.name)
    for row in rows:
        if row.relation == ":":
            kinds[row.name] = frozenset(row.text.split())
    for row in rows:
        if row.relation == "=":
            if row.name in found:
                raise ValueError(f"{row.place}: got a second row for {row.name}")
            operator, operands, _ = renamed_call(row)
            found[row.name] = NumpyFunction(operator, len(operands), kinds.get(row.name, frozenset()))
    return found


@functools.cache
def names():
    """Return what NumPy calls the engine's operators.

    Returns
    -------
    Dict[str, str]
        By the engine's name.

    """
    found = {}
    for name, function in functions().items():
        found.setdefault(function.operator, name)
    return found
