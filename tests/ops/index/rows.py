"""Rows of indexing, gathering, scattering, masks and embeddings."""
from harness import ALL, NUMERIC, SINGLES, Given, Row, Sample, Wrong

QUICK = ("float32", "float64", "float16", "int64", "complex64", "bool")


def ints(shape, high, low=0, dtype="int64"):
    """Return index numbers."""
    return Given(shape, dtype, low, high)


def spread(shape, count):
    """Return `count` different indices in random order, so that PyTorch's result is defined."""
    return Given(shape, "int64", make=lambda np, rng, s: rng.permutation(count)[:int(np.prod(s, dtype=int))].reshape(s))


MASK = Given((3, 4), "bool")


def index_oracle(torch, x, indices):
    """PyTorch writes None as a full slice."""
    return x[tuple(slice(None) if index is None else index.long() if index.dtype == torch.int32 else index
                   for index in indices)]


def put_oracle(torch, x, indices, values, accumulate=False):
    """PyTorch's index_put wants tensors; None is spelled out."""
    indices = [None if index is None else index.long() if index.dtype == torch.int32 else index for index in indices]
    return torch.ops.aten.index_put(x, indices, values, accumulate)


INDICES = [
    Sample((5, 3), [ints((4,), 5)]), Sample((5, 3), [ints((2, 2), 5, -5)]), Sample((5, 3), [None, ints((2,), 3)]),
    Sample((4, 3, 5), [ints((2,), 4), None, ints((2,), 5)]), Sample((4, 3, 5), [ints((2, 1), 4), ints((3,), 3)]),
    Sample((4, 3, 5), [None, ints((3,), 3), ints((1,), 5)]), Sample((5, 3), [ints((0,), 5)]),
    Sample((5, 3), [ints((), 5)]), Sample((0, 3), [None, ints((2,), 3)]), Sample((5,), [ints((3,), 5, 0, "int32")])]
MASKS = [Sample((3, 4), [MASK]), Sample((3, 4, 2), [MASK]), Sample((3, 4), [Given((3,), "bool"), ints((1,), 4)]),
         Sample((2, 4), [None, Given((4,), "bool")])]
OUTSIDE = [Wrong((5,), [Given(values=[5], dtype="int64")], error=IndexError, says=["5", "size 5"]),
           Wrong((5,), [Given(values=[-6], dtype="int64")], error=IndexError),
           Wrong((0, 2), [Given(values=[0], dtype="int64")], error=IndexError, says="size 0"),
           Wrong((5,), [Given((2,), "float32")], error=TypeError, says="integers"),
           Wrong((5,), [ints((2,), 5), ints((2,), 5)], error=IndexError),
           Wrong((5, 5), [ints((2,), 5), ints((3,), 5)])]
PUTS = [
    Sample((5, 3), [spread((4,), 5)], (4, 3)), Sample((5, 3), [spread((2, 2), 5)], (3,)),
    Sample((4, 3, 5), [spread((3,), 4), None, spread((3,), 5)], (3, 3)), Sample((5, 3), [None, spread((2,), 3)], ()),
    Sample((5, 3), [ints((0,), 5)], (0, 3))]
ADDS = [Sample((5, 3), [ints((9,), 5)], (9, 3), True), Sample((4, 3, 5), [ints((2, 3), 4, -4), ints((3,), 3)], (5,),
                                                              True)]


def key_of(indices, words):
    """Return what stands between the brackets, of the integers and tensors that say it."""
    key, indices = [], list(indices)
    for kind, bounds, start, stop, step in zip(*[iter(words)] * 5):
        key.append((start, slice(start if bounds & 1 else None, stop if bounds & 2 else None, step), None, Ellipsis,
                    bool(start))[kind] if kind < 5 else indices.pop(0))
    return tuple(key)


def subscript_write_oracle(torch, x, value, indices, items):
    """PyTorch writes where it lies."""
    x = x.clone()
    x[key_of(indices, items)] = value
    return x


SLICE, LAST, NEW, REST, PLACES = [1, 3, 1, 9, 2], [0, 0, -1, 0, 1], [2, 0, 0, 0, 1], [3, 0, 0, 0, 1], [5, 0, 0, 0, 1]


def reduce_oracle(torch, x, axis, index, src, reduce, include_self=True):
    """PyTorch's scatter_reduce."""
    return torch.scatter_reduce(x, axis, index, src, reduce, include_self=include_self)


REDUCTIONS = [Sample((4, 3), axis, ints((5, 3) if axis == 0 else (4, 6), 4 if axis == 0 else 3),
                     (5, 3) if axis == 0 else (4, 6), reduce, include_self=include)
              for axis in (0, 1) for reduce in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)]
INTO = {"assign": "none", "add": "sum", "multiply": "prod", "amax": "amax", "amin": "amin"}


def into_oracle(torch, x, axis, index, src, how):
    """Either a plain scatter or a reducing one."""
    if how == "assign":
        return torch.scatter(x, axis, index, src)
    return torch.scatter_reduce(x, axis, index, src, INTO[how])


def embedding_oracle(torch, weight, index, padding_idx=None, scale_grad_by_freq=False):
    """PyTorch's embedding, with its arguments in another order."""
    return torch.nn.functional.embedding(index, weight, padding_idx, scale_grad_by_freq=scale_grad_by_freq)


def bag_oracle(torch, weight, index, offsets, per_sample_weights=None, scale_grad_by_freq=False, mode="mean",
               include_last_offset=False, padding_idx=None):
    """PyTorch's embedding_bag, with its arguments in another order."""
    return torch.nn.functional.embedding_bag(
        index, weight, offsets, None, 2.0, scale_grad_by_freq, mode, False, per_sample_weights, include_last_offset,
        padding_idx)


OFFSETS = Given(values=[0, 2, 2, 5], dtype="int64")
BAGS = [Sample((6, 3), ints((7,), 6), OFFSETS, mode="sum"), Sample((6, 3), ints((7,), 6), OFFSETS),
        Sample((6, 3), ints((7,), 6), OFFSETS, None, mode="mean", padding_idx=2),
        Sample((6, 3), ints((5,), 6), OFFSETS, mode="sum", include_last_offset=True),
        Sample((6, 3), ints((7,), 6), OFFSETS, (7,), mode="sum"),
        Sample(Given((6, 3), distinct=True), ints((7,), 6), OFFSETS, mode="max")]
FREQUENT = [Sample((6, 3), ints((7,), 6), OFFSETS, None, True, mode="sum"),
            Sample((6, 3), ints((7,), 6), OFFSETS, None, True, padding_idx=2)]


ROWS = [
    Row("index_read", INDICES, dtypes=ALL, torch=index_oracle),
    Row("index", INDICES + MASKS, dtypes=QUICK, torch=index_oracle, errors=OUTSIDE + [
        Wrong((3, 4), [Given((4,), "bool")], error=IndexError, says="mask")],
        meta="a mask's places depend on numbers", strided="a spread mask keeps other places"),
    Row("index_write", PUTS + ADDS, dtypes=NUMERIC, torch=put_oracle, tolerance={
        "float16": (1e-2, 1e-2, "sums round after each addition"),
        "bfloat16": (5e-2, 5e-2, "sums round after each addition")},
        strided="equal places, whose order PyTorch leaves open"),
    Row("index_put", PUTS + ADDS + [Sample((3, 4), [MASK], ())], dtypes=QUICK[:-1], torch=put_oracle,
        tolerance={"float16": (1e-2, 1e-2, "sums round after each addition")}, meta="a mask's places depend on numbers",
        errors=[Wrong((5,), [Given(values=[5], dtype="int64")], (), error=IndexError, says=["5", "size 5"]),
                Wrong((5, 2), [ints((2,), 5)], (3,), says="(2, 2)"),
                Wrong((5,), [ints((2,), 5)], Given((2,), "float64"), error=TypeError, says="float64")]),
    Row("take", [Sample((3, 4), ints((2, 2), 12)), Sample((5,), ints((3,), 5, -5)), Sample((3, 4), ints((0,), 1))],
        dtypes=QUICK),
    Row("put", [Sample((3, 4), spread((2, 2), 12), (2, 2)), Sample((3, 4), ints((9,), 12), (9,), True)], dtypes=NUMERIC,
        torch=lambda torch, x, index, source, accumulate=False: x.put(index, source, accumulate),
        tolerance={"float16": (1e-2, 1e-2, "sums round after each addition"),
                   "bfloat16": (5e-2, 5e-2, "sums round after each addition")},
        strided="equal places, whose order PyTorch leaves open",
        errors=[Wrong((3,), ints((2,), 3), (3,), says="places")]),
    Row("gather", [Sample((4, 3), 0, ints((2, 3), 4)), Sample((4, 3), 1, ints((4, 5), 3)),
                   Sample((4, 3), -1, ints((2, 2), 3)),
                   Sample((3,), 0, ints((0,), 3)), Sample((), 0, ints((), 1)), Sample((), 0, ints((2,), 1)),
                   Sample((2, 3, 4), 1, ints((2, 5, 4), 3))],
        dtypes=ALL, torch=lambda torch, x, axis, index: torch.gather(x, axis, index),
        errors=[Wrong((4, 3), 0, Given(values=[[4, 0, 0]], dtype="int64"), error=IndexError,
                      says=["4", "axis 0", "size 4"]),
                Wrong((4, 3), 0, ints((2,), 4)), Wrong((4, 3), 0, ints((2, 4), 4)),
                Wrong((4, 3), 2, ints((2, 3), 4), error=IndexError), Wrong((4,), 0, (2,), error=TypeError)]),
    Row("take_along_axis", [Sample((4, 3), ints((2, 3), 4), 0), Sample((4, 3), ints((1, 2), 3), 1),
                            Sample((4, 3), ints((5,), 12))],
        torch=lambda torch, x, index, axis=None: torch.take_along_dim(x, index, axis),
        errors=[Wrong((4, 3), ints((2,), 3), 0)]),
    Row("index_select", [Sample((4, 3), 0, ints((6,), 4)), Sample((2, 3, 4), 1, ints((2,), 3, 0, "int32")),
                         Sample((4, 3), -1, ints((0,), 1)), Sample((4, 3), 0, ints((), 4)),
                         Sample((), 0, ints((1,), 1))],
        dtypes=ALL, torch=lambda torch, x, axis, index: torch.index_select(x, axis, index),
        errors=[Wrong((4,), 0, Given(values=[4], dtype="int64"), error=IndexError, says=["4", "axis 0", "size 4"]),
                Wrong((4,), 0, ints((2, 2), 4)), Wrong((4,), 0, (2,), error=TypeError)]),
    Row("scatter_into", [Sample((4, 3), 0, spread((2, 1), 4), (2, 1), "assign"),
                         Sample((4, 3), 0, ints((5, 3), 4), (5, 3), "add"),
                         Sample((4, 3), 1, ints((4, 5), 3), (4, 5), "multiply"),
                         Sample((4, 3), 1, ints((4, 5), 3), (4, 5), "amax"),
                         Sample((4, 3), 0, ints((5, 3), 4), (5, 3), "amin"), Sample((), 0, ints((), 1), (), "add")],
        dtypes=SINGLES + ("int64",), torch=into_oracle, strided="equal places, whose order PyTorch leaves open"),
    Row("scatter", [Sample((4, 3), 0, spread((3, 1), 4), (3, 1)), Sample((3, 5), 1, spread((1, 4), 5), ()),
                    Sample((4, 3), 0, ints((0, 3), 4), (0, 3)),
                    Sample((4, 3), 1, ints((4, 1), 3), (4, 1), reduce="add"),
                    Sample((4, 3), 1, ints((4, 1), 3), (4, 1), reduce="multiply")],
        dtypes=QUICK[:-1], second="PyTorch has no reduction with gradient here",
        torch=lambda torch, x, axis, index, src, reduce=None: (
            x.scatter(axis, index, src.expand(index.shape) if src.ndim == 0 else src) if reduce is None else
            x.scatter_reduce(axis, index, src, {"add": "sum", "multiply": "prod"}[reduce])
            if x.dtype != torch.complex64 else x.scatter(axis, index, src, reduce=reduce)),
        strided="equal places, whose order PyTorch leaves open",
        errors=[Wrong((4,), 0, Given(values=[4], dtype="int64"), (1,), error=IndexError,
                      says=["4", "axis 0", "size 4"]),
                Wrong((4,), 0, ints((2,), 4), (1,), says="index"), Wrong((4,), 0, ints((2,), 4), (2,), reduce="max"),
                Wrong((4,), 0, ints((2,), 4), Given((2,), "float64"), error=TypeError),
                Wrong((4, 2), 0, ints((2,), 4), (2,))]),
    Row("scatter_add", [Sample((4, 3), 0, ints((6, 3), 4), (6, 3)), Sample((4, 3), 1, ints((2, 5), 3), (2, 5)),
                        Sample((), 0, ints((), 1), ())], dtypes=NUMERIC,
        torch=lambda torch, x, axis, index, src: x.scatter_add(axis, index, src),
        tolerance={"float16": (1e-2, 1e-2, "sums round after each addition"),
                   "bfloat16": (5e-2, 5e-2, "sums round after each addition")}),
    Row("scatter_reduce", REDUCTIONS, dtypes=SINGLES + ("int64", "int32"), torch=reduce_oracle,
        second="extrema of few numbers lie on kinks, products near zeros",
        errors=[Wrong((4,), 0, ints((2,), 4), (2,), "max", says="reduce")]),
    Row("index_add", [Sample((4, 3), 0, ints((6,), 4), (6, 3)), Sample((4, 3), 1, ints((5,), 3), (4, 5), alpha=2),
                      Sample((), 0, ints((1,), 1), ())], dtypes=NUMERIC,
        torch=lambda torch, x, axis, index, src, alpha=1: x.index_add(axis, index, src, alpha=alpha),
        tolerance={"float16": (1e-2, 1e-2, "sums round after each addition"),
                   "bfloat16": (5e-2, 5e-2, "sums round after each addition")},
        errors=[Wrong((4, 3), 0, ints((2,), 4), (3, 3), says="(2, 3)"), Wrong((4,), 0, ints((1, 1), 4), (1,)),
                Wrong((4, 3), 0, Given(values=[4], dtype="int64"), (1, 3), error=IndexError)]),
    Row("index_copy", [Sample((4, 3), 0, spread((2,), 4), (2, 3)), Sample((4, 3), 1, spread((3,), 3), (4, 3))],
        dtypes=QUICK, torch=lambda torch, x, axis, index, src: x.index_copy(axis, index, src),
        strided="equal places, whose order PyTorch leaves open"),
    Row("index_fill", [Sample((4, 3), 0, ints((2,), 4), ()), Sample((4, 3), 1, ints((0,), 3), ())], dtypes=QUICK,
        torch=lambda torch, x, axis, index, value: x.index_fill(axis, index, value),
        errors=[Wrong((4,), 0, ints((1,), 4), (2,))]),
    Row("index_reduce", [Sample((4, 3), 0, ints((6,), 4), (6, 3), how, include_self=include)
                         for how in ("prod", "mean", "amax", "amin") for include in (True, False)],
        dtypes=SINGLES, second="extrema of few numbers lie on kinks, products near zeros",
        torch=lambda torch, x, axis, index, src, reduce, include_self=True: torch.scatter_reduce(
            x, axis, index[:, None].expand(src.shape), src, reduce, include_self=include_self),
        errors=[Wrong((4,), 0, ints((2,), 4), (2,), "sum", says="index_add")]),
    Row("masked_fill", [Sample((3, 4), MASK, ()), Sample((4,), MASK, ()), Sample((3, 4), Given((4,), "bool"), ()),
                        Sample((0, 3), Given((3,), "bool"), ()), Sample((), Given((), "bool"), ())],
        dtypes=ALL, torch=lambda torch, x, mask, value: x.masked_fill(mask, value),
        errors=[Wrong((3,), (3,), (), error=TypeError, says="bool"), Wrong((3,), Given((2,), "bool"), ()),
                Wrong((3,), Given((3,), "bool"), (1,), says="(1,)")]),
    Row("masked_select", [Sample((3, 4), MASK), Sample((4,), MASK), Sample((3, 4), Given((4,), "bool")),
                          Sample((0, 3), Given((3,), "bool")), Sample((), Given((), "bool"))], dtypes=ALL,
        errors=[Wrong((3,), (3,), error=TypeError, says="bool"), Wrong((3,), Given((2,), "bool"))]),
    Row("masked_scatter", [Sample((3, 4), MASK, (12,)), Sample((4,), MASK, (3, 4)), Sample((0,), Given((0,), "bool"),
                                                                                           (0,))],
        dtypes=ALL, torch=lambda torch, x, mask,
        src: x.expand(torch.broadcast_shapes(x.shape, mask.shape)).masked_scatter(mask, src),
        errors=[Wrong((3,), Given(values=[True] * 3, dtype="bool"), (2,), says="src"),
                Wrong((3,), (3,), (3,), error=TypeError)]),
    Row("nonzero", [Sample((3, 4)), Sample((2, 3, 4)), Sample(()), Sample((0, 3)), Sample(Given(values=[0, 0]))],
        dtypes=ALL, gradient=False),
    Row("argwhere", [Sample((3, 4)), Sample(())], dtypes=QUICK, gradient=False, meta="its length depends on numbers"),
    Row("nonzero_tuple", [Sample((3, 4)), Sample(()), Sample((0,))], dtypes=QUICK, gradient=False,
        meta="its length depends on numbers", out="it gives a list",
        torch=lambda torch, x: torch.nonzero(x, as_tuple=True)),
    Row("flatnonzero", [Sample((3, 4)), Sample(())], dtypes=QUICK, gradient=False, meta="its length depends on numbers",
        numpy=lambda np, x: np.flatnonzero(x)),
    Row("embedding", [Sample((5, 3), ints((4,), 5)), Sample((5, 3), ints((), 5)), Sample((5, 0), ints((2,), 5)),
                      Sample((5, 3), ints((0,), 5))],
        torch=embedding_oracle,
        errors=[Wrong((5, 3), Given(values=[5], dtype="int64"), error=IndexError, says=["5", "size 5"]),
                Wrong((5,), ints((2,), 5)), Wrong((5, 3), (2,), error=TypeError), Wrong((5, 3), ints((2,), 5), 5)]),
    Row("embedding with padding", [Sample((5, 3), ints((2, 3), 5), 2), Sample((5, 3), ints((7,), 5), None, True)],
        call=lambda dragon, *args: dragon.ops.embedding(*args), torch=embedding_oracle,
        gradient="by design it is not the derivative: some rows get none, others a mean"),
    Row("embedding_bag by frequency", FREQUENT, outputs=(0,), torch=bag_oracle,
        call=lambda dragon, *args, **kwargs: dragon.ops.embedding_bag(*args, **kwargs),
        gradient="by design it is not the derivative: rows listed often get a mean"),
    Row("embedding_bag", BAGS, torch=bag_oracle, outputs=(0,), second="it is a sum whose gradient has no second kernel",
        errors=[Wrong((6, 3), Given(values=[6], dtype="int64"), Given(values=[0], dtype="int64"), error=IndexError,
                      says=["6", "size 6"]),
                Wrong((6, 3), ints((3,), 6), Given(values=[0, 4], dtype="int64"), says="offsets"),
                Wrong((6, 3), ints((3,), 6), Given(values=[2, 1], dtype="int64"), says="offsets"),
                Wrong((6, 3), ints((3,), 6), OFFSETS, (3,), mode="mean", says="per_sample_weights"),
                Wrong((6, 3), ints((3,), 6), OFFSETS, mode="median", says="mode")]),
    Row("one_hot", [Sample(ints((2, 3), 4), 5), Sample(Given(values=[0, 2, 1], dtype="int64")),
                    Sample(ints((0,), 1), 3)],
        dtypes=("int64",), gradient=False, torch=lambda torch, x, n=-1: torch.nn.functional.one_hot(x, n),
        strided="the number of classes depends on numbers", meta="the number of classes depends on numbers",
        errors=[Wrong(Given(values=[-1], dtype="int64"), says="-1"), Wrong(ints((0,), 1)), Wrong(ints((2,), 3), -2),
                Wrong(Given((2,), "float32"), error=TypeError)]),
    Row("repeat_places", [Sample(Given(values=[2, 0, 3], dtype="int64")), Sample(ints((0,), 1))], dtypes=("int64",),
        gradient=False, torch=lambda torch, repeats: torch.repeat_interleave(repeats)),
    Row("repeat_interleave by a number", [Sample((3, 2), 2), Sample((3, 2), 3, 1), Sample((2,), 0)],
        call=lambda dragon, *args: dragon.ops.repeat_interleave(*args), meta="the length depends on numbers",
        torch=lambda torch, x, repeats, axis=None: torch.repeat_interleave(x, repeats, axis)),
    Row("repeat_interleave", [Sample((3, 2), Given(values=2, dtype="int64")), Sample((3, 2),
                                                                                     Given(values=[2, 0, 1],
                                                                                           dtype="int64"), 0),
                              Sample((3, 2), Given(values=[3], dtype="int64"), 1),
                              Sample((0,), Given(values=2, dtype="int64"))],
        dtypes=QUICK, meta="the length depends on numbers",
        torch=lambda torch, x, repeats, axis=None: torch.repeat_interleave(x, repeats, axis),
        errors=[Wrong((3,), Given(values=[1, 2], dtype="int64"), says="repeats"), Wrong((3,), (), error=TypeError),
                Wrong((3,), Given(values=[-1, 1, 1], dtype="int64"), says="repeats"),
                Wrong((3,), Given(values=[2 ** 62, 2 ** 62, 1], dtype="int64"))]),
    Row("subscript", [Sample((5, 3), [], items=SLICE), Sample((5, 3), [], items=LAST), Sample((5, 3), [], items=[]),
                      Sample((2, 5, 3), [], items=[*LAST, *NEW, *SLICE]), Sample((5, 3), [], items=[*REST, *LAST]),
                      Sample((5, 3), [ints((4,), 5)], items=PLACES),
                      Sample((5, 3), [ints((2,), 5), ints((2,), 3)], items=[*PLACES, *PLACES]),
                      Sample((3,), [], items=[1, 0, 0, 0, 2])],
        dtypes=QUICK, torch=lambda torch, x, indices, items: x[key_of(indices, items)],
        errors=[Wrong((5,), [], items=[0, 0, 5, 0, 1], error=IndexError), Wrong((5,), [], items=[7, 0, 0, 0, 1]),
                Wrong((5,), [], items=[1, 3, 0, 2]), Wrong((5,), [], items=PLACES),
                Wrong((5,), [], items=[*LAST, *LAST], error=IndexError)]),
    Row("subscript_write", [Sample((5, 3), (2, 3), [], items=SLICE), Sample((5, 3), (), [], items=LAST),
                            Sample((5, 3), (4, 3), [spread((4,), 5)], items=PLACES)],
        dtypes=QUICK, torch=subscript_write_oracle,
        gradient="it writes where it lies, which leaves refuse; test_subscript.py has the gradients of x[...] = value",
        errors=[Wrong((5,), (2,), [], items=[0, 0, 5, 0, 1], error=IndexError),
                Wrong((5,), (3,), [], items=[1, 3, 0, 2, 1])]),
]
