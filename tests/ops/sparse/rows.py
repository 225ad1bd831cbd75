"""Rows of products with matrices in compressed rows."""
from harness import NUMERIC, Given, Row, Sample, Wrong

STARTS = Given(values=[0, 2, 2, 5, 6], dtype="int64")
PLACES = Given(values=[0, 2, 1, 1, 0, 2], dtype="int64")
PLACES_32 = Given(values=[0, 2, 1, 1, 0, 2], dtype="int32")
NOWHERE, NOTHING = Given(values=[0], dtype="int64"), Given((0,), "int64", 0, 1)


def rows_of(torch, starts):
    """Return the row of each number."""
    return torch.repeat_interleave(torch.arange(len(starts) - 1), starts[1:] - starts[:-1])


def matmul_oracle(torch, starts, places, values, dense):
    """The products of each number, added up by rows."""
    product = values[:, None] * dense[places.long()]
    empty = torch.zeros(len(starts) - 1, dense.shape[1], dtype=dense.dtype)
    return empty.index_add(0, rows_of(torch, starts), product)


def dots_oracle(torch, starts, places, a, b):
    """The products of two rows each."""
    return (a[rows_of(torch, starts)] * b[places.long()]).sum(-1, dtype=a.dtype)


def turn_oracle(torch, starts, places, columns):
    """A stable sort by columns."""
    order = torch.argsort(places, stable=True)
    counts = torch.bincount(places, minlength=columns)
    return torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)]), rows_of(torch, starts)[order], order


MATRICES = [Sample(STARTS, PLACES, (6,), (3, 70)), Sample(STARTS, PLACES_32, (6,), (3, 5)),
            Sample(STARTS, PLACES, (6,), (3, 0)), Sample(NOWHERE, NOTHING, (0,), (3, 4)),
            Sample(STARTS, PLACES, (6,), (3, 64))]
REPEATED = "starts that are spread lead nowhere"
ROWS = [
    Row("rows_matmul", MATRICES, dtypes=NUMERIC, torch=matmul_oracle, strided=REPEATED, errors=[
        Wrong(STARTS, PLACES, (6,), (2, 4), error=IndexError, says="got place 2, expected 0 to 1"),
        Wrong(Given(values=[0, 2, 1, 6], dtype="int64"), PLACES, (6,), (3, 4), error=ValueError, says="rising"),
        Wrong(STARTS, PLACES, (5,), (3, 4), error=ValueError, says="one for each number"),
        Wrong(STARTS, PLACES, (6,), (3,), error=ValueError, says="a matrix")]),
    Row("rows_dots", [Sample(STARTS, PLACES, (4, 40), (3, 40)), Sample(STARTS, PLACES_32, (4, 5), (3, 5)),
                      Sample(STARTS, PLACES, (4, 0), (3, 0)), Sample(NOWHERE, NOTHING, (0, 4), (3, 4))],
        dtypes=NUMERIC, torch=dots_oracle, strided=REPEATED, errors=[
            Wrong(STARTS, PLACES, (3, 4), (3, 4), error=ValueError, says="expected (4, 4)")]),
    Row("turn_rows", [Sample(STARTS, PLACES, 3), Sample(STARTS, PLACES, 9), Sample(NOWHERE, NOTHING, 0)],
        dtypes=("int64",), torch=turn_oracle, strided=REPEATED, errors=[
            Wrong(STARTS, PLACES, 2, error=IndexError, says="got place 2"),
            Wrong(STARTS, PLACES, -1, error=ValueError, says="at least 0")]),
]
