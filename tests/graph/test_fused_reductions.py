"""Reductions of 16 bits and of integers behind pointwise calls: one call, and the numbers of the calls one by one."""
import numpy as np
import pytest

import dragon
from graph.test_fusion import dtype_name, fuse, graph_of, run, transposed
from harness.graphs import ops
from harness.subresults import each

HALVES = ("float16", "bfloat16")
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
DIGITS = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7, "float32": 2e-6, "float64": 1e-13}
SHAPES = [(6, 50), (3, 5000), (40, 3, 8), (1, 1), (7,), (300, 70), (0, 4), (4, 0)]


def feed(shape, dtype, seed=0, scale=1.0):
    """Return numbers of a dtype; of integers, small ones of both signs."""
    draw = np.random.default_rng(seed)
    if dtype in INTEGERS:
        low, high = (0, 2) if dtype == "bool" else (0, 9) if dtype == "uint8" else (-9, 9)
        return dragon.tensor(draw.integers(low, high, size=shape).astype(dtype))
    return dragon.ops.cast(dragon.tensor(draw.normal(size=shape) * scale), dtype)


def wide(tensor):
    return dragon.ops.cast(tensor, "float64").numpy() if dtype_name(tensor).endswith("float16") else tensor.numpy()


def check(feeds, program, exact, calls=("fused",)):
    """Check that a program becomes these calls, and that they give what it gives call by call."""
    graph = graph_of(feeds, program)
    fused = fuse(graph)
    assert ops(fused) == list(calls), ops(fused)
    for mine, eager in zip(run(fused, feeds), run(graph, feeds)):
        assert dtype_name(mine) == dtype_name(eager) and mine.shape == eager.shape
        digits = 0 if exact else DIGITS.get(dtype_name(eager), 0)
        mine, eager = wide(mine), wide(eager)
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(eager))
        np.testing.assert_allclose(mine, eager, rtol=digits, atol=digits * 1e-3)


def behind(op, **arguments):
    """Return a program: a chain that keeps numbers small, and a reduction."""
    def program(add, x):
        return add(op, add("maximum", x, add("minimum", x, x)), **arguments)
    return program


PLACES = {"all": {}, "rows": {"axis": [-1]}, "rows, kept": {"axis": [-1], "keepdims": True}, "columns": {"axis": [0]},
          "all, kept": {"keepdims": True}}


@each("place", PLACES)
@each("op", ["sum", "mean", "prod", "amax", "amin"])
@each("dtype", HALVES + INTEGERS)
def test_every_dtype_in_every_place(op, place, dtype):
    """Whole numbers and extremes to the bit; sums of 16 bits, whose parts meet in another order, to the last digit."""
    if op == "mean" and dtype in INTEGERS:
        pytest.skip("a mean of integers is refused")
    for shape in SHAPES:
        if 0 in shape and op in ("amax", "amin"):
            continue
        fits = 0 not in shape and not (len(shape) == 1 and place == "columns")
        feeds = [feed(shape, dtype)]
        graph = graph_of(feeds, behind(op, **PLACES[place]))
        assert ("fused" == ops(fuse(graph))[0]) or not fits
        check(feeds, behind(op, **PLACES[place]), dtype in INTEGERS or op in ("amax", "amin"), ops(fuse(graph)))
        if fits:
            assert ops(fuse(graph)) == ["fused"]


@pytest.mark.parametrize("dtype", HALVES)
def test_rows_are_the_same_to_the_bit(dtype):
    """A row's reduction is the operator's own loop over the same numbers; what follows reads it rounded."""
    def softmax(add, x):
        above = add("exp", add("sub", x, add("amax", x, axis=[-1], keepdims=True)))
        return add("div", above, add("sum", above, axis=[-1], keepdims=True))

    def norm(add, x):
        size = add("mean", add("mul", x, x), axis=[-1], keepdims=True)
        return add("mul", x, add("rsqrt", add("add", size, 0.5)))

    for shape in ((6, 50), (40, 3, 8), (3, 5000)):
        for program in (softmax, norm):
            for x in (feed(shape, dtype), transposed(feed(shape, dtype))):
                check([x], program, exact=shape[-1] < 300)


@pytest.mark.parametrize("dtype", HALVES)
def test_sums_are_added_up_in_32_bits(dtype):
    """As near to the exact sum as one rounding is, where parts of 16 bits would stand still."""
    x = dragon.ops.cast(dragon.ops.full((20000, 3), 1.0, dtype="float32"), dtype)
    feeds = [x]
    for op, wanted in (("sum", 20000.0), ("mean", 1.0)):
        graph = graph_of(feeds, lambda add, x: add(op, add("mul", x, 1.0), axis=[0]))
        assert ops(fuse(graph)) == ["fused"]
        mine, = run(fuse(graph), feeds)
        np.testing.assert_array_equal(wide(mine), wide(dragon.ops.cast(dragon.tensor([wanted] * 3), dtype)))


def test_what_is_huge_on_the_way_is_finite_in_the_end():
    x = dragon.ops.cast(dragon.tensor(np.tile([60000.0, -60000.0, 60000.0, -59000.0], 500).reshape(-1, 4)), "float16")
    for arguments in ({}, {"axis": [1]}, {"axis": [0]}):
        check([x], lambda add, x: add("sum", add("neg", x), **arguments), exact=True)
        check([x], lambda add, x: add("mean", add("neg", x), **arguments), exact=True)
    many = dragon.ops.full((3000,), 60000.0, dtype="float32")
    check([dragon.ops.cast(many, "float16")], lambda add, x: add("sum", add("abs", x)), exact=True)  # infinity


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", HALVES)
def test_nan_and_infinity(dtype, number):
    values = np.random.default_rng(0).normal(size=(40, 30))
    values[7, 3] = number
    x = dragon.ops.cast(dragon.tensor(values), dtype)
    for op in ("sum", "mean", "prod", "amax", "amin"):
        for arguments in PLACES.values():
            check([x], lambda add, x: add(op, add("neg", x), **arguments), exact=False)


def test_whole_numbers_wrap_around_and_do_not_overflow():
    ends = dragon.tensor(np.full((500, 4), np.iinfo("int32").max, "int32"))
    far = dragon.tensor(np.full((500, 4), np.iinfo("int64").max, "int64"))
    for arguments in PLACES.values():
        check([ends], lambda add, x: add("sum", add("abs", x), **arguments), exact=True)
        check([far], lambda add, x: add("sum", add("bitwise_not", x), **arguments), exact=True)
        check([far], lambda add, x: add("prod", add("abs", x), **arguments), exact=True)


WIDER = [("float16", "float32"), ("bfloat16", "float32"), ("bfloat16", "float64"), ("float32", "float64"),
         ("int32", "float32"), ("bool", "float64"), ("int8", "int64"), ("bool", "int64")]


@pytest.mark.parametrize("dtype, wanted", WIDER)
def test_a_wider_dtype_that_is_asked_for(dtype, wanted):
    for arguments in PLACES.values():
        for op in ("sum", "prod") + (("mean",) if wanted.startswith("float") else ()):
            check([feed((60, 20), dtype)], lambda add, x: add(op, add("maximum", x, x), dtype=wanted, **arguments),
                  exact=False)


@pytest.mark.parametrize("dtype, wanted", [("float64", "float32"), ("float32", "bfloat16"), ("int64", "int32"),
                                           ("float32", "int64")])
def test_a_narrower_dtype_stays_a_call_of_its_own(dtype, wanted):
    check([feed((60, 20), dtype)], lambda add, x: add("sum", add("neg", add("abs", x)), dtype=wanted), True,
          ("fused", "sum"))


def test_a_mixed_chain():
    """Masks counted, losses of 16 bits added up and gradients of biases, in one pass."""
    def program(add, x, y):
        miss = add("sub", x, y)
        hits = add("eq", add("sign", x), add("sign", y))
        return [add("sum", hits), add("mean", add("square", miss)), add("sum", miss, axis=[0]), add("amax", miss),
                add("sum", hits, axis=[1])]

    for shape in ((80, 70), (2000, 33)):
        check([feed(shape, "bfloat16"), feed(shape, "bfloat16", 1)], program, exact=False)
