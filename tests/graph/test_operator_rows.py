"""Every operator row, with its gradient, from captured plans at every level: equal to the eager call."""
import numpy
import pytest

from harness import captured, engine, oracle
from harness.checks import chosen, report, samples_of
from harness.gradients import cotangents_for, wants_grad
from harness.inputs import bind
from harness.tolerance import compare, tolerance_of
from ops.test_rows import ROWS

EXACT = (0.0, 0.0)
FEW = 3  # samples of a row that the quick half takes
# Some calls of these look at numbers, to check them, to choose the way or to find places by a mask: they stay eager.
READERS = set("""argwhere flatnonzero gaussian_nll_loss histogram index index_put linalg_lstsq masked_scatter
    nanquantile nonzero_tuple one_hot quantile repeat_interleave rrelu
    view_as_real view_as_complex imag""".split())  # the last: gradients that look at memory under another dtype

pytestmark = pytest.mark.skipif(not captured.AVAILABLE, reason="this engine does not trace")


def function_of(row, sample, dtype, index, with_gradient):
    """Return a function of tensors that calls a row's operator and differentiates it, and a maker of its arguments."""
    arguments = bind(row, sample, dtype, index)
    items = arguments.inputs()
    marks = [with_gradient and wants_grad(item) for item in items]

    def forward(tensors):
        queue = iter(tensors)
        args, kwargs = arguments.map(lambda _: next(queue))
        return oracle.as_tuple(engine.operator(row)(*args, **kwargs))

    def carrying(results):
        return [result for result in chosen(row, results) if engine.is_tensor(result) and result.requires_grad]

    def make(other):
        again = bind(row, sample, dtype, index + 1000 * other).inputs()
        return [engine.tensor(item, mark) for item, mark in zip(again, marks)]

    engine.seed(index)
    cotangents = cotangents_for(numpy.random.default_rng(7), carrying(forward(make(False)))) if any(marks) else []

    def whole(*tensors):
        xs, upstream = tensors[:len(items)], tensors[len(items):]
        results = forward(xs)
        found = [result for result in chosen(row, results)]
        if upstream:
            leaves = [x for x, mark in zip(xs, marks) if mark]
            found += [grad for grad in engine.grad(carrying(results), leaves, list(upstream)) if grad is not None]
        return found

    return whole, lambda other: make(other) + [engine.tensor(item) for item in cotangents]


def call_both(row, function, make, replay, other, allowed):
    """Return what differs between an eager call and a replayed one, results and written arguments."""
    shown = []
    for run in (function, replay):
        arguments = make(other)
        engine.seed(5)
        results = captured.leaves(run(*arguments))
        shown.append([engine.array(tensor) for tensor in [*results, *arguments]])
    eager, mine = shown
    if len(eager) != len(mine):
        return f"{len(mine)} results, expected {len(eager)}"
    found = (compare(a, b, allowed) for a, b in zip(mine, eager))
    return next((sentence for sentence in found if sentence), None)


def check_row(row, dtype, levels, count, with_gradient):
    """Compare all samples of a row at some levels."""
    samples, failures, gave_up = samples_of(row)[:count], [], 0
    for index, sample in enumerate(samples):
        function, make = function_of(row, sample, dtype, index, with_gradient)
        for level in levels:
            try:
                engine.seed(5)
                _, replay = captured.capture(function, make(False), level)
                if replay is None:
                    gave_up += 1
                    break
                allowed = EXACT if level < 3 else tolerance_of(row, dtype)
                found = (call_both(row, function, make, replay, other, allowed) for other in (False, True))
                sentence = next((sentence for sentence in found if sentence), None)
            except Exception as error:  # whatever came, the eager call did not raise it
                sentence = f"{type(error).__name__}: {error}"
            if sentence:
                failures.append(f"{row.name}{sample} in {dtype} at O{level}: {sentence}")
                break
    report(failures, samples)
    if gave_up:
        assert engine.is_dynamic(row) or row.call is not None or row.name in READERS, f"{row.name} gave no graph"
        pytest.skip(f"{gave_up} of {len(samples)} samples gave no graph: they ask for numbers")


def in_order(rows):
    """Return parameters (row), named."""
    return [pytest.param(row, id=str(row)) for row in rows]


@pytest.mark.parametrize("row", in_order(ROWS))
def test_values(row):
    check_row(row, row.dtypes[0], (0, 3), FEW, False)


@pytest.mark.parametrize("row", in_order(row for row in ROWS if row.differentiable and not engine.is_dynamic(row)))
def test_gradients(row):
    check_row(row, row.dtypes[0], (0, 3), FEW, True)


@pytest.mark.slow
@pytest.mark.parametrize("row", in_order(ROWS))
def test_all_samples_at_all_levels(row):
    for dtype in row.dtypes[:2]:
        check_row(row, dtype, captured.LEVELS, None, row.differentiable and not engine.is_dynamic(row))
