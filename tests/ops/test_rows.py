"""Walk the operator table: every row of every family through every check, once in each of its dtypes.

What is tried stands in `harness/row_walk.py`, and how to run one row or one check in `docs/design/0035-one-walk.md`.
"""
import pathlib

import pytest

from dragon import _C
from harness import engine, row_walk
from harness.rows import find_rows, load_rows
from ops.parts import PROVED_APART, WHOLE_OF

HERE = pathlib.Path(__file__).parent
FOUND, BROKEN = find_rows()
ROWS = load_rows()
UNKNOWN = [row for row in FOUND if row not in ROWS]


def quick():
    """Return parameters (row, dtype, long) of the quick half: each row in its first dtype."""
    return [pytest.param(row, row.dtypes[0], False, id=str(row)) for row in ROWS]


def long():
    """Return parameters (row, dtype, long) of the long half, the test in the first dtype being all of the quick one."""
    return [pytest.param(row, dtype, True, id=f"{row} in {dtype}", marks=pytest.mark.slow)
            for row in ROWS for dtype in row.dtypes if any(row_walk.checks_of(row, dtype, True))]


def test_rows_load():
    assert not BROKEN


def test_operators_exist():
    assert not [row.name for row in UNKNOWN]


@pytest.mark.parametrize("row, dtype, long", quick() + long())
def test_row(row, dtype, long):
    row_walk.walk_row(row, dtype, long)


def test_every_operator_has_a_row():
    """A `_backward` operator is proved by the second derivatives of the operator it belongs to, one that runs a
    graph by the tests of the passes that make it."""
    rows = {row.name for row in FOUND}
    proved = rows | {part for part, whole in WHOLE_OF.items() if whole in rows}
    proved |= {name for name, place in PROVED_APART.items() if (HERE.parents[1] / place).exists()}
    missing = [name for name in engine.names() if name not in proved and not name.endswith("_backward")
               and all(argument["type"] != "Graph" for argument in _C.schema(name)["arguments"])]
    assert not missing
    assert not [part for part in WHOLE_OF if part in rows or part not in set(engine.names())]


def test_rows_of_an_operator_stand_together():
    families = {}
    for row in FOUND:
        if row.call is None:
            families.setdefault(row.name, set()).add(row.family)
    assert not {name: found for name, found in families.items() if len(found) > 1}
