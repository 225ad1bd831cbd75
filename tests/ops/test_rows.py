"""Walk the operator table: every row of every family through every check."""
import importlib.util
import pathlib

import pytest

from dragon import _C
from harness import checks, engine, gradients, slices
from harness.row import Row
from ops.parts import PROVED_APART, WHOLE_OF

HERE = pathlib.Path(__file__).parent


def load_rows():
    """Return (rows, {file: error}) of all `rows*.py` below this folder."""
    rows, broken = [], {}
    for path in sorted(HERE.glob("*/rows*.py")):
        name = f"rows_of_{path.parent.name}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # one broken file must not hide the other families
            broken[f"{path.parent.name}/{path.name}"] = error
            continue
        for row in module.ROWS:
            row.family = path.parent.name
            rows.append(row)
    return rows, broken


FOUND, BROKEN = load_rows()
KNOWN = set(engine.names())
ROWS = [row for row in FOUND if row.call is not None or row.name in KNOWN]
UNKNOWN = [row for row in FOUND if row not in ROWS]


def over_dtypes(rows):
    """Return parameters (row, dtype); all but the first dtype of a row belong to the long half."""
    return [pytest.param(row, dtype, id=f"{row} in {dtype}", marks=[pytest.mark.slow] if index else [])
            for row in rows for index, dtype in enumerate(row.dtypes)]


def in_first_dtype(rows):
    """Return parameters (row, its first dtype)."""
    return [pytest.param(row, row.dtypes[0], id=str(row)) for row in rows]


def in_double(rows):
    """Return parameters (row, float64) and, for rows with complex inputs, (row, complex128) of differentiable rows."""
    return [pytest.param(row, dtype, id=f"{row} in {dtype}")
            for row in rows if row.differentiable for dtype in ("float64", "complex128")
            if dtype in row.dtypes or dtype == "float64" and "float32" in row.dtypes]


def strided_dtype(row):
    """Return the first dtype of a row that NumPy has."""
    return next(dtype for dtype in row.dtypes if dtype != "bfloat16")


@pytest.mark.parametrize("file", sorted(BROKEN))
def test_rows_load(file):
    raise BROKEN[file]


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in UNKNOWN])
def test_operator_exists(row):
    pytest.fail(f"no operator is registered as {row.name!r}", pytrace=False)


@pytest.mark.parametrize("row, dtype", over_dtypes(ROWS))
def test_values(row: Row, dtype):
    checks.check_values(row, dtype)


@pytest.mark.parametrize("row, dtype", in_first_dtype(row for row in ROWS if row.meta is True))
def test_meta(row, dtype):
    checks.check_meta(row, dtype)


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS if not row.random])
def test_strides(row):
    checks.check_strides(row, strided_dtype(row))


@pytest.mark.parametrize("row, dtype", in_first_dtype(ROWS))
def test_out(row, dtype):
    checks.check_out(row, dtype)


@pytest.mark.parametrize("row, dtype", [
    pytest.param(row, dtype, id=f"{row} in {dtype}", marks=[] if dtype == "float32" else [pytest.mark.slow])
    for row in ROWS if row.special is True and not row.random and engine.is_pointwise(row)
    for dtype in ("float32", "float64", "float16", "bfloat16") if dtype in row.dtypes])
def test_special_numbers(row, dtype):
    checks.check_special(row, dtype)


@pytest.mark.parametrize("row, dtype", in_double(ROWS))
def test_gradient_equals_torch(row, dtype):
    gradients.check_against_torch(row, dtype)


@pytest.mark.parametrize("row, dtype", in_double(ROWS))
def test_gradient_by_differences(row, dtype):
    gradients.check_first(row, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("row, dtype", in_double(row for row in ROWS if row.second is True))
def test_second_derivative(row, dtype):
    gradients.check_second(row, dtype)


# Where its memory lies matters to a view of any strides, and so where a slice lies.
@pytest.mark.parametrize("row, dtype", in_first_dtype(
    row for row in ROWS if not row.random and not row.name.startswith("as_strided")))
def test_batches(row, dtype):
    slices.check_batched(row, dtype)


@pytest.mark.parametrize("row, dtype", in_first_dtype(
    row for row in ROWS if not row.random and row.call is None
    and _C.schema(row.name)["batches"] not in ("", "apart")))
def test_rules_for_batches_are_followed(row, dtype):
    assert slices.keeps_together(row, dtype)


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS if row.errors])
def test_errors(row):
    checks.check_errors(row)


def test_every_operator_has_a_row():
    """A `_backward` operator is proved by the second derivatives of the operator it belongs to, one that runs a
    graph by the tests of the passes that make it."""
    rows = {row.name for row in FOUND}
    proved = rows | {part for part, whole in WHOLE_OF.items() if whole in rows}
    proved |= {name for name, place in PROVED_APART.items() if (HERE.parents[1] / place).exists()}
    missing = [name for name in engine.names() if name not in proved and not name.endswith("_backward")
               and all(argument["type"] != "Graph" for argument in _C.schema(name)["arguments"])]
    assert not missing
    assert not [part for part in WHOLE_OF if part in rows or part not in KNOWN]


def test_rows_of_an_operator_stand_together():
    families = {}
    for row in FOUND:
        if row.call is None:
            families.setdefault(row.name, set()).add(row.family)
    assert not {name: found for name, found in families.items() if len(found) > 1}
