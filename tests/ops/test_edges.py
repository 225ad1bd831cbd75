"""Every row at the edges of numbers and shapes, eager and compiled, beside PyTorch: values, dtypes and gradients.

The cases come from `harness/edges.py`, none is picked by hand; what differs and why is in `edge_differences.py`. The
short half takes the first sample of each row in its first dtype, the long one all dtypes and more samples.
"""
import pytest

from harness import edge_checks
from harness.rows import load_rows
from ops.edge_differences import DIFFERENCES, is_known

ROWS = [row for row in load_rows() if not row.random]
NAMES = {row.name for row in ROWS}


def check(row, dtype, **options):
    """Fail with what differs and is not known."""
    found = [f"{title} | {words}" for title, words in edge_checks.check(row, dtype, gradient=True, **options)
             if not is_known(row, dtype, f"{title} | {words}")]
    if found:
        shown = "\n  ".join(line[:300] for line in found[:8])
        pytest.fail(f"{len(found)} calls differ:\n  {shown}", pytrace=False)


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS])
def test_edges(row):
    check(row, row.dtypes[0], compiled=True, limit=1)


@pytest.mark.slow
@pytest.mark.parametrize("row, dtype", [pytest.param(row, dtype, id=f"{row} in {dtype}")
                                        for row in ROWS for dtype in row.dtypes])
def test_edges_of_all_dtypes(row, dtype):
    check(row, dtype, compiled=dtype in ("float64", "float32", "int64"), limit=3)


def test_differences_are_of_rows():
    families = {row.family for row in ROWS}
    for difference in DIFFERENCES:
        assert set(difference.names.split()) <= NAMES | families, difference
        assert difference.reason, difference
