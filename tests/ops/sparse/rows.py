"""Rows of products with matrices in compressed rows."""
from harness import NUMERIC, REAL, Given, Row, Sample, Wrong

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


def extreme_oracle(torch, starts, places, values, dense, least=False):
    """The products of each number, row by row."""
    product = values[:, None] * dense[places.long()]
    pairs = []
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist()):
        if first == last:
            pairs.append((torch.zeros_like(dense[0]), torch.full((dense.shape[1],), -1)))
        else:
            best, which = (product[first:last].min if least else product[first:last].max)(0)
            pairs.append((best, which + first))
    if not pairs:
        return dense[:0] * values.sum(), torch.zeros(0, dense.shape[1], dtype=torch.int64)
    return torch.stack([pair[0] for pair in pairs]), torch.stack([pair[1] for pair in pairs])


def product_oracle(torch, starts, places, values, other_starts, other_places, other_values, columns):
    """All terms, written down and added up place by place."""
    if len(values) != len(places) or len(other_values) != len(other_places):
        raise ValueError("one number for each place")
    pairs = [(row, k, other) for row, k in zip(rows_of(torch, starts).tolist(), range(len(values)))
             for other in range(other_starts[int(places[k])], other_starts[int(places[k]) + 1])]
    rows, left, right = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 3).T
    wide = values.float() if values.dtype.itemsize == 2 and values.is_floating_point() else values
    keys, which = torch.unique(rows * columns + other_places.long()[right], return_inverse=True)
    sums = torch.zeros(len(keys), dtype=wide.dtype).index_add(0, which, wide[left] * other_values.to(wide.dtype)[right])
    counts = torch.bincount(keys // max(columns, 1), minlength=len(starts) - 1)
    return (torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)]), keys % max(columns, 1),
            sums.to(values.dtype))


MATRICES = [Sample(STARTS, PLACES, (6,), (3, 70)), Sample(STARTS, PLACES_32, (6,), (3, 5)),
            Sample(STARTS, PLACES, (6,), (3, 0)), Sample(NOWHERE, NOTHING, (0,), (3, 4)),
            Sample(STARTS, PLACES, (6,), (3, 64))]
OTHER = Given(values=[0, 3, 4, 6], dtype="int64"), Given(values=[1, 0, 3, 3, 1, 2], dtype="int64"), (6,)
EMPTY = Given(values=[0, 0, 0, 0], dtype="int64"), NOTHING, (0,)
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
    Row("rows_extreme", [*MATRICES, *(Sample(*sample.args, least=True) for sample in MATRICES)], dtypes=REAL,
        torch=extreme_oracle, strided=REPEATED, errors=[
            Wrong(STARTS, PLACES, (6,), (2, 4), error=IndexError, says="got place 2, expected 0 to 1"),
            Wrong(STARTS, PLACES, (6,), (3,), error=ValueError, says="a matrix")]),
    Row("rows_product", [Sample(STARTS, PLACES, (6,), *OTHER, 4), Sample(STARTS, PLACES_32, (6,), *OTHER, 600),
                         Sample(NOWHERE, NOTHING, (0,), *OTHER, 4), Sample(STARTS, PLACES, (6,), *EMPTY, 0)],
        dtypes=NUMERIC, torch=product_oracle, strided=REPEATED, gradient=False, errors=[
            Wrong(STARTS, PLACES, (6,), *OTHER, 3, error=IndexError, says="got place 3, expected 0 to 2"),
            Wrong(STARTS, PLACES, (6,), NOWHERE, NOTHING, (0,), 4, error=IndexError, says="got place"),
            Wrong(STARTS, PLACES, (6,), *OTHER, -1, error=ValueError, says="at least 0")]),
    Row("turn_rows", [Sample(STARTS, PLACES, 3), Sample(STARTS, PLACES, 9), Sample(NOWHERE, NOTHING, 0)],
        dtypes=("int64",), torch=turn_oracle, strided=REPEATED, errors=[
            Wrong(STARTS, PLACES, 2, error=IndexError, says="got place 2"),
            Wrong(STARTS, PLACES, -1, error=ValueError, says="at least 0")]),
]
