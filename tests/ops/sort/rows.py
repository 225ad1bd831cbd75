"""Rows of sorting, picking, searching, grouping and counting."""
from harness import INTEGER, REAL, SINGLES, Given, Row, Sample, Wrong

NAN = float("nan")
QUICK = ("float32", "float64", "float16", "bfloat16", "int64", "uint8")


def distinct(*shape):
    """Return numbers no two of which are equal, so that places are unique."""
    return Given(shape, distinct=True)


def values(*numbers):
    """Return the very numbers."""
    return Given(values=list(numbers))


LINES = [Sample(distinct(5)), Sample(distinct(3, 4)), Sample(distinct(3, 4), 0), Sample(distinct(2, 3, 4), 1),
         Sample(())]
KEPT = [Sample(distinct(5)), Sample(distinct(3, 4), 0), Sample(distinct(3, 4), -1, True), Sample(()),
        Sample(distinct(2, 3, 4), 1)]
FLOATS = ("float32", "float64", "float16", "bfloat16")


def sort_oracle(torch, x, axis=-1, descending=False, stable=True):
    """PyTorch's stable sort, which is the only one here."""
    return torch.sort(x, dim=axis, descending=descending, stable=True)


def topk_oracle(torch, x, k, axis=-1, largest=True, in_order=True):
    """PyTorch's topk, in order."""
    return torch.topk(x, k, axis, largest, True)


def median_oracle(torch, x, axis=None, keepdims=False, name="median"):
    """PyTorch without an axis gives no place: find it."""
    function = getattr(torch, name)
    if axis is not None:
        return function(x, axis, keepdims)
    flat = x.reshape(-1)
    return function(flat, 0) if flat.numel() else (function(x), torch.tensor(-1))


def quantile_oracle(torch, x, q, axis=None, keepdims=False, interpolation="linear", name="quantile"):
    """PyTorch's quantile; q in x's dtype."""
    return getattr(torch, name)(x, q.to(x.dtype), axis, keepdims, interpolation=interpolation)


def unique_oracle(torch, x, ordered=True, return_inverse=False, return_counts=False, axis=None):
    """PyTorch's unique with an empty tensor for what was not asked."""
    results = torch.unique(x, sorted=True, return_inverse=True, return_counts=True, dim=axis)
    return grouped(torch, results, return_inverse, return_counts)


def grouped(torch, results, return_inverse, return_counts):
    """Replace what was not asked for."""
    nothing = torch.empty(0, dtype=torch.int64)
    return results[0], results[1] if return_inverse else nothing, results[2] if return_counts else nothing


def consecutive_oracle(torch, x, return_inverse=False, return_counts=False, axis=None):
    """PyTorch's unique_consecutive with an empty tensor for what was not asked."""
    return grouped(torch, torch.unique_consecutive(x, True, True, axis), return_inverse, return_counts)


def search_oracle(torch, edges, x, out_int32=False, right=False, side=None, sorter=None):
    """PyTorch refuses nothing that the engine takes."""
    return torch.searchsorted(edges, x, out_int32=out_int32, right=right, side=side, sorter=sorter)


EDGES = Given(values=[-1.0, 0.0, 0.0, 1.0, 2.0])
TABLE = Given(values=[[-2.0, 0.0, 1.0], [-1.0, 0.5, 3.0]])
Q = Given(values=[0.0, 0.3, 0.5, 1.0], dtype="float64", grad=False)
HALF = Given(values=0.4, dtype="float64", grad=False)
MODES = ("linear", "lower", "higher", "midpoint", "nearest")
SPACED = "the places of quantiles depend on numbers only through their order, but q is checked by value"
COUNTS = Given((9,), "int64", 0, 5)
SHARED = "sorted sequences cannot be spread"


ROWS = [
    Row("sort", LINES + [Sample((6, 40), -1, True), Sample((3, 0)), Sample(Given((200,), low=0, high=4)),
                         Sample(Given((2, 3000), low=-50, high=50)),
                         Sample(Given((2, 3000), low=-50, high=50), -1, True)],
        dtypes=REAL, torch=sort_oracle, second="its places are constant",
        errors=[Wrong((3,), 1, error=IndexError, says="axis"), Wrong(Given((3,), "complex64"), error=TypeError)]),
    Row("argsort", LINES + [Sample((4, 9), 0, True)], dtypes=REAL, gradient=False,
        torch=lambda torch, x, axis=-1, descending=False: torch.argsort(x, dim=axis, descending=descending,
                                                                        stable=True),
        errors=[Wrong(Given((3,), "complex64"), error=TypeError)]),
    Row("msort", [Sample(distinct(4, 3)), Sample(distinct(5))], dtypes=QUICK),
    Row("topk", [Sample(distinct(9), 3), Sample(distinct(3, 9), 4, 1, False), Sample(distinct(9, 3), 2, 0),
                 Sample((3,), 0),
                 Sample((), 1), Sample(distinct(2, 700), 5), Sample(distinct(700), 600)],
        dtypes=FLOATS + ("int64", "int32"), torch=topk_oracle, second="its places are constant",
        tolerance={"bfloat16": (1e-2, 1e-2, "seven hundred numbers are not distinct in eight bits")},
        outputs=(0,), errors=[Wrong((3,), 4, says="k 4"), Wrong((3,), -1), Wrong((3,), 1, 1, error=IndexError)]),
    Row("kthvalue", [Sample(distinct(9), 3), Sample(distinct(3, 9), 1, 1, True), Sample(distinct(9, 3), 9, 0),
                     Sample((), 1)],
        dtypes=QUICK, torch=lambda torch, x, k, axis=-1, keepdims=False: torch.kthvalue(x, k, axis, keepdims),
        second="its places are constant", errors=[Wrong((3,), 0, says="k 0"), Wrong((3,), 4), Wrong((0,), 1)]),
    Row("median", [Sample(distinct(5)), Sample(distinct(3, 4)), *KEPT[1:]],
        dtypes=FLOATS, torch=median_oracle, second="its places are constant", errors=[Wrong((2, 0), 1, says="size 0")]),
    Row("nanmedian", [Sample(distinct(5)), Sample(distinct(3, 4)), *KEPT[1:]], dtypes=FLOATS,
        torch=lambda torch, *args: median_oracle(torch, *args, name="nanmedian"), second="its places are constant"),
    Row("median_axis", [Sample(distinct(3, 4), 1), Sample(distinct(3, 4), 0, True)], second="its places are constant",
        torch=lambda torch, x, axis, keepdims=False: torch.median(x, axis, keepdims)),
    Row("nanmedian_axis", [Sample(distinct(3, 4), 1), Sample(distinct(3, 4), 0, True)],
        second="its places are constant",
        torch=lambda torch, x, axis, keepdims=False: torch.nanmedian(x, axis, keepdims)),
    Row("median with NaN", [Sample(values(1.0, NAN, 2.0), 0), Sample(values(1.0, NAN, 2.0))], gradient="it is NaN",
        call=lambda dragon, *args: dragon.ops.median(*args), torch=median_oracle),
    Row("quantile with NaN", [Sample(values(1.0, NAN, 2.0), Q)], dtypes=SINGLES, gradient="it is NaN", meta=SPACED,
        call=lambda dragon, *args: dragon.ops.quantile(*args), torch=quantile_oracle),
    Row("median of NaN", [Sample(values(NAN, NAN), 0), Sample(values(NAN, 3.0, 1.0, NAN), 0)], gradient=False,
        call=lambda dragon, x, axis: dragon.ops.nanmedian(x, axis)[0], outputs=(0,),
        torch=lambda torch, x, axis: torch.nanmedian(x, axis)[0]),
    Row("mode", [Sample(Given((9,), low=0, high=3, dtype="int64")), Sample(Given((4, 7), low=0, high=3, dtype="int64"),
                                                                           0),
                 Sample(Given((4, 7), low=0, high=3, dtype="int64"), 1, True), Sample(values(1.0, NAN, NAN)),
                 Sample(())],
        dtypes=SINGLES, torch=lambda torch, x, axis=-1, keepdims=False: torch.mode(x, axis, keepdims),
        gradient="equal numbers have no one place", errors=[Wrong((2, 0), says="size 0")]),
    Row("quantile", [Sample(distinct(7), Q, interpolation=mode) for mode in MODES]
        + [Sample(distinct(3, 4), HALF, 1), Sample(distinct(3, 4), Q, 0, True), Sample(distinct(3, 4), Q, None, True),
           Sample(distinct(3, 4), HALF, -1, True), Sample((), HALF)],
        dtypes=SINGLES, torch=quantile_oracle, meta=SPACED, second="its places are constant",
        errors=[Wrong((3,), Given(values=1.5, dtype="float64"), says="q"), Wrong((0,), HALF),
                Wrong((3,), HALF, interpolation="cubic"),
                Wrong(Given((3,), "int64"), HALF, error=TypeError), Wrong((3,), Given((1, 1), low=0, high=1))]),
    Row("nanquantile", [Sample(values(1.0, NAN, 2.0, 5.0), Q, interpolation=mode) for mode in MODES]
        + [Sample(distinct(3, 4), HALF, 1), Sample(values(NAN, NAN), Q)],
        dtypes=SINGLES, torch=lambda torch, *args,
        **kwargs: quantile_oracle(torch, *args, name="nanquantile", **kwargs),
        meta=SPACED, gradient="differences with NaN are NaN"),
    Row("unique", [Sample(Given((9,), low=0, high=4)), Sample(Given((3, 4), low=0, high=4), True, True, True),
                   Sample(Given(values=[[1, 2], [0, 1], [1, 2]]), True, True, True, 0), Sample((0,), True, True, True),
                   Sample(Given(values=[[1, 1, 0], [2, 2, 1]]), True, True, True, 1), Sample((), True, True, True)],
        dtypes=REAL + ("bool",), torch=unique_oracle, gradient=False, out="its results have other sizes",
        errors=[Wrong((2, 0), True, False, False, 0, says="(2, 0)"),
                Wrong((3,), True, False, False, 1, error=IndexError),
                Wrong(Given((3,), "complex64"), error=TypeError)]),
    Row("unique of NaN", [Sample(values(NAN, 1.0, NAN, 2.0, 1.0))], gradient=False,
        meta="its length depends on numbers",
        call=lambda dragon, x: dragon.ops.unique(x, True, True, True),
        torch=lambda torch, x: torch.unique(x, return_inverse=True, return_counts=True)),
    Row("unique_consecutive", [Sample(Given(values=[1, 1, 2, 2, 2, 1]), True, True),
                               Sample(Given(values=[[1, 2], [1, 2], [0, 1]]), True, True, 0), Sample((0,))],
        dtypes=REAL + ("bool",), torch=consecutive_oracle, gradient=False, out="its results have other sizes"),
    Row("searchsorted", [Sample(EDGES, (4, 3)), Sample(EDGES, values(-1.0, 0.0, 2.0), right=True), Sample(EDGES, ()),
                         Sample(TABLE, (2, 4)), Sample(EDGES, values(0.0, 1.5), side="right", out_int32=True),
                         Sample(values(3.0, 1.0, 2.0), (4,), sorter=Given(values=[1, 2, 0], dtype="int64")),
                         Sample(EDGES, values(NAN, 1.0))],
        dtypes=("float32", "float64", "float16", "bfloat16"), torch=search_oracle, gradient=False, strided=SHARED,
        errors=[Wrong(TABLE, (3, 4), says="last axis"), Wrong(EDGES, (3,), side="middle", says="side"),
                Wrong(EDGES, (3,), side="left", right=True), Wrong((), (3,)),
                Wrong(EDGES, (3,), sorter=Given(values=[1, 2], dtype="int64"), says="sorter"),
                Wrong(values(1.0), (3,), sorter=Given(values=[1], dtype="int64"), error=IndexError, says="sorter")]),
    Row("bucketize", [Sample((3, 4), EDGES), Sample(values(0.0, 1.0), EDGES, right=True)], gradient=False,
        strided=SHARED,
        torch=lambda torch, x, edges, out_int32=False,
        right=False: torch.bucketize(x, edges, out_int32=out_int32, right=right),
        errors=[Wrong((3,), (2, 2), says="boundaries")]),
    Row("isin", [Sample(Given((3, 4), low=0, high=9), Given((5,), low=0, high=9)), Sample((3,), (0,)),
                 Sample((3,), (0,), invert=True),
                 Sample(Given((), low=0, high=3), Given((2, 2), low=0, high=3), invert=True)],
        dtypes=INTEGER + SINGLES, gradient=False, torch=lambda torch, x, tests,
        invert=False: torch.isin(x, tests, invert=invert),
        errors=[Wrong(Given((3,), "complex64"), Given((3,), "complex64"), error=TypeError)]),
    Row("bincount", [Sample(COUNTS), Sample(COUNTS, (9,)), Sample(COUNTS, None, 12), Sample(Given((0,), "int64", 0, 1)),
                     Sample(Given((9,), "uint8", 0, 5), Given((9,), "int64"))],
        dtypes=SINGLES, gradient=False, errors=[Wrong(Given(values=[-1], dtype="int64"), says="-1"),
                                                Wrong((3,), error=TypeError),
                                                Wrong(COUNTS, (3,), says="weights"),
                                                Wrong(COUNTS, None, -1, says="minlength"),
                                                Wrong(Given(values=[2 ** 62], dtype="int64"))]),
    Row("histc", [Sample((50,), 5), Sample((5, 4), 4, -1.0, 1.0), Sample((0,), 3), Sample(values(2.0, 2.0), 4),
                  Sample(values(1.0, NAN, 2.0), 3, 0.0, 3.0)],
        dtypes=FLOATS, torch=lambda torch, x, bins=100, low=0, high=0: torch.histc(x, bins, low, high), gradient=False,
        exact=True, errors=[Wrong((3,), 0, says="bins"), Wrong((3,), 3, 2.0, 1.0, says="range"), Wrong(values(NAN), 3),
                            Wrong(Given((3,), "int64"), error=TypeError)]),
    Row("histogram", [Sample((50,), 5), Sample((5, 4), 4, range=[-1.0, 1.0]), Sample((30,), 4, density=True),
                      Sample((30,), 3, weight=(30,))],
        dtypes=SINGLES, gradient=False,
        torch=lambda torch, x, bins, range=None, weight=None, density=False: torch.histogram(
            x, bins, range=range, weight=weight, density=density),
        errors=[Wrong((3,), 0, says="bins"), Wrong((3,), 2, range=[1.0], says="range"),
                Wrong((3,), 2, range=[2.0, 1.0])]),
    Row("histogram_edges", [Sample((50,), EDGES), Sample((30,), values(-1.0, 0.5, 2.0), (30,), True)], dtypes=SINGLES,
        gradient=False,
        torch=lambda torch, x, edges, weight=None,
        density=False: torch.histogram(x, edges, weight=weight, density=density)[0],
        strided=SHARED),
]
