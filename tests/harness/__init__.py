"""The walk over the operator table: a row says what an operator should do, the harness tries every way to call it.

How to add an operator
----------------------
Write `tests/ops/<family>/rows.py` (or `rows_<part>.py`: every file of that shape is found) with a list `ROWS`:

    from harness import ALL, FLOATING, Given, Row, Sample, Wrong

    ROWS = [
        Row("gelu", samples=[Sample((3,)), Sample((2, 0)), Sample((2, 3), approximate="tanh")], dtypes=FLOATING),
        Row("sort", samples=[Sample(Given((3, 4), distinct=True), axis=0), Sample((), 0)], dtypes=REAL),
        Row("concat", [Sample([(2, 3), (4, 3)], axis=0)], torch=lambda torch, xs, axis: torch.cat(xs, axis)),
    ]

* `Sample(*args, **kwargs)` is one call, positions and names as in the schema. Where the schema wants a tensor, a shape
  stands for seeded numbers of the tested dtype, and `Given(...)` says more (dtype, range, distinct, explicit values, a
  maker); where it wants `Tensor[]`, a list of those. Attributes are written as they are. Have an empty one and, where
  it makes sense, a 0-d one among them; pointwise operators get both by themselves, and NaN, infinities and zeros too.
* The oracle: `torch=lambda torch, x, axis=None: ...` and/or `numpy=lambda np, x, axis=None: ...` get the same arguments
  (NumPy in float64/complex128). Without either, `torch.<name>`, `torch.nn.functional.<name>`, `torch.special.<name>`,
  `torch.linalg.<...>` or `torch.fft.<...>` is taken, with `axis` and `keepdims` renamed to PyTorch's words.
* `dtypes` are those of the inputs: FLOATING (default), REAL, INTEGER, INEXACT, COMPLEX, ALL, or a tuple of names. The
  first one is the quick suite's.
* `gradient=False` for what has none, or a reason; `second="why not"` skips second derivatives; `domain=(low, high)`
  bounds the default inputs, e.g. away from kinks and poles; `tolerance={"float32": (rtol, atol, "why")}` widens one
  dtype.
* `outputs=(0, 2)` compares and differentiates only these results. `canonical=lambda np, *results: ...` maps both sides'
  results (NumPy arrays) to what must agree, for results that are unique only up to a sign, an order, ...
* `random=True`: no oracle; same seed, same numbers. `errors=[Wrong((3,), axis=4, error=IndexError, says="axis")]`.

Run one operator with `pytest tests/ops -k gelu`, one family with `-k "pointwise/"`, the short half with
`-m "not slow"`, one check with `--only gradients`: `harness/row_walk.py` has the names of all.
"""
from harness.row import (ALL, COMPLEX, FLOATING, INEXACT, INTEGER, NUMERIC, REAL, SINGLES, Given, Row,  # noqa: F401
                         Sample, Wrong)
