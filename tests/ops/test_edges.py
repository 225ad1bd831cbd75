"""Every row at the edges of numbers and shapes, eager and compiled, beside PyTorch: values, dtypes and gradients.

The cases come from `harness/edges.py`, none is picked by hand; what differs and why is in `edge_differences.py`. Here
stands the first sample of each row in its first dtype, the rest being told by `python -m harness.edge_hunt`, which
walks all samples and dtypes.
"""
import pytest

from harness import edge_checks
from harness.rows import load_rows
from ops.edge_differences import DIFFERENCES, is_known

ROWS = [row for row in load_rows() if not row.random]
NAMES = {row.name for row in ROWS}


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS])
def test_edges(row):
    found = edge_checks.check(row, row.dtypes[0], compiled=True, gradient=True, limit=1)
    lines = [f"{title} | {words}" for title, words in found]
    unknown = [line for line in lines if not is_known(row, row.dtypes[0], line)]
    if unknown:
        shown = "\n  ".join(line[:300] for line in unknown[:8])
        pytest.fail(f"{len(unknown)} calls differ:\n  {shown}", pytrace=False)


def test_differences_are_of_rows():
    families = {row.family for row in ROWS}
    for difference in DIFFERENCES:
        assert set(difference.names.split()) <= NAMES | families, difference
        assert difference.reason, difference
