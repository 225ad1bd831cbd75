"""Rows of reductions along any axes."""
from harness import ALL, COMPLEX, FLOATING, INEXACT, REAL, Given, Row, Sample, Wrong

SHAPES = [Sample((5,)), Sample((3, 4), 0), Sample((3, 4), -1, True), Sample((2, 3, 4, 5), (1, 3)),
          Sample((2, 3, 4), (0, 2), True),
          Sample((7, 130), 1), Sample((130, 7), 0), Sample((), None), Sample((2, 0), 1),
          Sample((2, 0), None), Sample((0, 2), 1)]
FULL = [sample for sample in SHAPES if sample.args[0] not in ((2, 0),)]
ONE_AXIS = [Sample((5,), 0), Sample((3, 4), 0), Sample((3, 4), -1, True), Sample((2, 3, 4), 1), Sample((130, 70), 0),
            Sample((70, 130), 1), Sample((0, 2), 1), Sample((), 0)]
DISTINCT = [Sample(Given(s.args[0], distinct=True), *s.args[1:]) for s in FULL]
DISTINCT_ONE = [Sample(Given(s.args[0], distinct=True), *s.args[1:]) for s in ONE_AXIS]
BAD_AXES = [Wrong((3,), 4, error=IndexError, says="axis"), Wrong((3, 4), (0, 0), error=ValueError, says="once")]
NONZERO = dict(domain=(0.5, 1.5))


def over(name):
    """Return the oracle `torch.<name>(x, dim, keepdim)` which also takes all axes."""
    def call(torch, x, axis=None, keepdims=False, **more):
        axis = tuple(range(x.dim())) if axis is None or axis == () else axis
        if x.dim() == 0:
            axis = ()
        return getattr(torch, name)(x, axis, keepdim=keepdims, **more)
    return call


def everywhere(name):
    """Return the oracle of any and all, which take no empty list of axes."""
    def call(torch, x, axis=None, keepdims=False):
        return getattr(torch, name)(x) if axis is None else getattr(torch, name)(x, axis, keepdim=keepdims)
    return call


def product(torch, x, axis=None, keepdims=False, **more):
    """Return the product over several axes, one after the other."""
    if axis is None:
        return torch.prod(x, **more)
    for one in sorted((a % x.dim() for a in ((axis,) if isinstance(axis, int) else axis)), reverse=True):
        x = torch.prod(x, one, keepdim=keepdims, **more)
    return x


def vector_norm(torch, x, ord=2, axis=None, keepdims=False, dtype=None):
    """Return torch's vector norm."""
    return torch.linalg.vector_norm(x, ord, axis, keepdims, dtype=dtype)


def variance(torch, x, axis=None, keepdims=False, correction=1):
    """Return torch's variance, which takes keepdim only beside a dim."""
    return torch.var(x, axis, correction=correction, keepdim=keepdims)


NORMS = [Sample((3, 4)), Sample((3, 4), 1, 0), Sample((3, 4), 3, 1, True), Sample((3, 4), 0.5, (0, 1)),
         Sample((3, 4), 0, 0), Sample((2, 3, 4), float("inf"), 1), Sample((2, 3, 4), float("-inf"), (0, 2)),
         Sample((), 2), Sample((2, 0), 2, 1),
         Sample((3, 4), -1, 1)]

ROWS = [
    Row("sum", SHAPES, dtypes=ALL),
    Row("mean", SHAPES, dtypes=INEXACT, errors=BAD_AXES),
    Row("nansum", SHAPES, dtypes=REAL),
    Row("nanmean", SHAPES, dtypes=FLOATING),
    Row("prod", SHAPES + [Sample(Given((4,), values=[1., 0., 2., 3.])),
                          Sample(Given((2, 2), values=[[0., 0.], [0., 1.]]), 1)],
        dtypes=ALL, torch=product, **NONZERO),
    Row("count_nonzero", [Sample((3, 4)), Sample((3, 4), 1), Sample((2, 0), 1)], dtypes=ALL, gradient=False),
    Row("amax", DISTINCT, dtypes=REAL, torch=over("amax"), errors=BAD_AXES + [Wrong((2, 0), 1, error=IndexError)]),
    Row("amin", DISTINCT, dtypes=REAL, torch=over("amin")),
    Row("max", [Sample(Given((3, 4), distinct=True)), Sample(())], dtypes=REAL),
    Row("min", [Sample(Given((3, 4), distinct=True)), Sample(())], dtypes=REAL),
    Row("aminmax", [Sample(Given((3, 4), distinct=True)), Sample(Given((3, 4), distinct=True), axis=1, keepdims=True)],
        dtypes=REAL,
        torch=lambda torch, x, axis=None, keepdims=False: tuple(torch.aminmax(x, dim=axis, keepdim=keepdims))),
    Row("max_axis", DISTINCT_ONE, dtypes=REAL,
        torch=lambda torch, x, axis, keepdims=False: tuple(torch.max(x, axis, keepdims))),
    Row("min_axis", DISTINCT_ONE, dtypes=REAL,
        torch=lambda torch, x, axis, keepdims=False: tuple(torch.min(x, axis, keepdims))),
    Row("argmax", DISTINCT_ONE + [Sample((3, 4)), Sample((3, 4), None, True)], dtypes=REAL, gradient=False,
        errors=[Wrong((2, 0), error=IndexError)]),
    Row("argmin", DISTINCT_ONE + [Sample((3, 4)), Sample((3, 4), None, True)], dtypes=REAL, gradient=False),
    Row("any", SHAPES, dtypes=ALL, gradient=False, torch=everywhere("any")),
    Row("all", SHAPES, dtypes=ALL, gradient=False, torch=everywhere("all")),
    Row("var", [Sample((5,)), Sample((3, 4), 1), Sample((2, 3, 4, 5), (1, 3), keepdims=True),
                Sample((130, 7), 0, correction=0), Sample((7, 130), -1), Sample((2, 0), 0), Sample((3, 4),
                correction=2, keepdims=True, axis=0)],
        dtypes=FLOATING + COMPLEX, torch=variance, errors=[Wrong(Given((3,), dtype="int64"), error=TypeError)]),
    Row("std", [Sample((5,)), Sample((3, 4), 1), Sample((130, 7), 0, correction=0)], dtypes=FLOATING + COMPLEX,
        torch=lambda torch, x, axis=None, correction=1: torch.std(x, axis, correction=correction)),
    Row("var_mean", [Sample((5,)), Sample((3, 4), 1), Sample((130, 7), 0, correction=0)], dtypes=FLOATING + COMPLEX,
        torch=lambda torch, x, axis=None, correction=1: tuple(torch.var_mean(x, axis, correction=correction))),
    Row("std_mean", [Sample((5,)), Sample((3, 4), 1)], dtypes=FLOATING + COMPLEX,
        torch=lambda torch, x, axis=None, correction=1: tuple(torch.std_mean(x, axis, correction=correction))),
    Row("linalg_vector_norm", NORMS, dtypes=INEXACT, torch=vector_norm),
    Row("norm", [Sample((3, 4)), Sample((3, 4), 1, 0), Sample((3, 4), 3, 1, True)], dtypes=INEXACT,
        torch=lambda torch, x, p=2, axis=None, keepdims=False: torch.linalg.vector_norm(x, p, axis, keepdims)),
    Row("logsumexp", [Sample((5,), 0), Sample((3, 4), -1, True), Sample((2, 3, 4), (0, 2)), Sample((130, 7), 0),
                      Sample((), 0), Sample((2, 0), 1), Sample(Given((4,), values=[float("-inf")] * 4, grad=False),
                      0)], dtypes=FLOATING),
]
