"""Rows of running sums, products and extremes."""
from harness import FLOATING, INEXACT, NUMERIC, REAL, Given, Row, Sample, Wrong

SHAPES = [Sample((5,), 0), Sample((3, 4), 0), Sample((2, 3, 4), 1), Sample((2, 3, 4), -1), Sample((2, 0), 1),
          Sample((), 0), Sample((1, 3), 0)]
TILES = [Sample((2, 2, 260), 1)]  # past the columns that are scanned together, and on to another plane
DISTINCT = [Sample(Given(s.args[0], distinct=True), *s.args[1:]) for s in SHAPES]
ZEROS = [Sample(Given((5,), values=[2., 0., 3., 0., 1.]), 0), Sample(Given((2, 2), values=[[0., 1.], [2., 0.]]), 1)]
BAD_AXIS = [Wrong((3,), 1, error=IndexError, says="axis")]


def linear_scan(numpy, a, b, axis):
    """Return y with y[k] = b[k] + a[k] y[k - 1], term by term."""
    a, b = numpy.moveaxis(a, axis, 0), numpy.moveaxis(b, axis, 0)
    y = numpy.zeros_like(b)
    for k in range(len(b)):
        y[k] = b[k] + (a[k] * y[k - 1] if k else 0)
    return numpy.moveaxis(y, 0, axis)


ROWS = [
    Row("cumsum", SHAPES + TILES, dtypes=NUMERIC, errors=BAD_AXIS),
    Row("cumprod", SHAPES + ZEROS, dtypes=NUMERIC, errors=BAD_AXIS),
    Row("logcumsumexp", SHAPES, dtypes=FLOATING, errors=BAD_AXIS),
    Row("cummax", DISTINCT, dtypes=REAL, errors=BAD_AXIS, torch=lambda torch, x, axis: tuple(torch.cummax(x, axis))),
    Row("cummin", DISTINCT, dtypes=REAL, errors=BAD_AXIS, torch=lambda torch, x, axis: tuple(torch.cummin(x, axis))),
    Row("linear_scan", [Sample((5,), (5,), 0), Sample((3, 4), (3, 4), 0), Sample((2, 3, 4), (2, 3, 4), 1)],
        dtypes=INEXACT, numpy=linear_scan),
]
