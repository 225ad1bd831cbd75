"""Rows of what makes tensors from nothing."""
from harness import ALL, FLOATING, REAL, Row, Sample, Wrong

OPTIONS = {"gradient": False, "out": "the operator has no tensor to write over", "strided": "no input"}
LIKE = [Sample((3,)), Sample((2, 3, 4)), Sample((2, 0)), Sample(())]
SHAPES = [Sample([3]), Sample([2, 3]), Sample([2, 0]), Sample([])]


def shape_only(torch, *args, **kwargs):
    """Return zeros where memory is uninitialised: its numbers are not compared."""
    return torch.zeros(*args, **kwargs)


def zeroed(name):
    """Return the call of an operator with its result's numbers, which are accidental, replaced by zeros."""
    return lambda dragon, *args, **kwargs: dragon.ops.zeros_like(getattr(dragon.ops, name)(*args, **kwargs))


def triangle(name):
    """Return a row of tril or triu."""
    samples = [Sample((3, 4)), Sample((2, 3, 3), 1), Sample((4, 2), diagonal=-1), Sample((2, 0)),
               Sample((3, 3), 1 << 62), Sample((3, 3), -(1 << 62))]
    return Row(name, samples, dtypes=ALL, errors=[Wrong((3,), says="(3,)")])


ROWS = [
    *[Row(name, SHAPES, dtypes=FLOATING[:1], errors=[Wrong([-1], says="-1")], **OPTIONS) for name in ("zeros", "ones")],
    Row("full", [Sample([2, 3], 1.5), Sample([2], 3), Sample([], True), Sample([2, 0], 1)], dtypes=FLOATING[:1],
        errors=[Wrong([-1], 1, says="-1")], **OPTIONS),
    *[Row(name, LIKE, dtypes=ALL, gradient=False) for name in ("zeros_like", "ones_like")],
    Row("full_like", [Sample((2, 3), 2), Sample((2, 0), 1), Sample((), 3)], dtypes=ALL, gradient=False),
    Row("fill", [Sample((2, 3), 2), Sample((2, 0), 1), Sample((), 3)], dtypes=ALL,
        torch=lambda torch, x, value: torch.fill(x, value)),
    Row("empty", SHAPES, dtypes=FLOATING[:1], call=zeroed("empty"), torch=shape_only, **OPTIONS),
    Row("empty_like", LIKE, dtypes=ALL, call=zeroed("empty_like"), torch=lambda torch, x: torch.zeros_like(x),
        gradient=False),
    Row("empty_strided", [Sample([2, 3], [1, 2]), Sample([2, 0], [1, 1])], dtypes=FLOATING[:1],
        call=zeroed("empty_strided"), torch=lambda torch, shape, strides: torch.zeros(shape), **OPTIONS),
    Row("arange", [Sample(5), Sample(2, 9, 3), Sample(5, 0, -2), Sample(0.5, 3.0, 0.25), Sample(3, 3), Sample(1.0)],
        dtypes=FLOATING[:1], errors=[Wrong(0, 5, 0, says="step 0"), Wrong(0, 5, -1, says="direction"),
                                     Wrong(float("nan"), says="nan")], **OPTIONS),
    Row("linspace", [Sample(0, 1, 5), Sample(-3.0, 7.5, 12), Sample(1, 2, 1), Sample(1, 2, 0)], dtypes=FLOATING[:1],
        errors=[Wrong(0, 1, -1, says="-1")], **OPTIONS),
    Row("logspace", [Sample(0, 1, 5), Sample(-2.0, 3.0, 6, 2.0), Sample(1, 2, 0)], dtypes=FLOATING[:1], **OPTIONS),
    Row("eye", [Sample(3), Sample(2, 4), Sample(4, 2), Sample(0)], dtypes=FLOATING[:1],
        torch=lambda torch, n, m=None: torch.eye(n) if m is None else torch.eye(n, m),
        errors=[Wrong(-1, says="-1")], **OPTIONS),
    *(Row(name, [Sample(3, 3), Sample(2, 4, 1), Sample(4, 2, -1), Sample(0, 3)], dtypes=("int64",),
          torch=lambda torch, *args, name=name: getattr(torch, name)(*args), **OPTIONS)
      for name in ("tril_indices", "triu_indices")),
    Row("view_dtype", [Sample((2, 4)), Sample((4,)), Sample((3, 1))], dtypes=("float32", "int32"), gradient=False,
        call=lambda dragon, x: dragon.ops.view_dtype(x, dragon.int16),
        torch=lambda torch, x: x.view(torch.int16), out="a view has no memory of its own",
        strided="elements of another size need a last axis without gaps"),
    Row("to_device", [Sample((2, 3)), Sample(()), Sample((0,))], dtypes=ALL,
        call=lambda dragon, x: dragon.ops.to_device(x, "cpu"), torch=lambda torch, x: x.clone(),
        meta="a meta tensor has no numbers to bring anywhere"),
    triangle("tril"),
    triangle("triu"),
    Row("cast", [Sample((2, 3))], dtypes=REAL,
        call=lambda dragon, x: dragon.ops.cast(dragon.ops.cast(x, dragon.float64), x.dtype),
        torch=lambda torch, x: x.double().to(x.dtype), gradient="covered by every operator that promotes"),
]
