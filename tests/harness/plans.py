"""What is tried with a row's samples as plans: results and gradients of captured calls equal those of eager ones."""
import numpy

from harness import captured, engine, oracle
from harness.checks import chosen, samples_of
from harness.gradients import cotangents_for, wants_grad
from harness.tolerance import compare, tolerance_of

EXACT = (0.0, 0.0)
FEW = 3  # samples of a row that the quick half takes
ENDS = (captured.LEVELS[0], captured.LEVELS[-1])
# Some calls of these look at numbers, to check them, to choose the way or to find places by a mask: they stay eager.
READERS = set("""argwhere flatnonzero gaussian_nll_loss histogram index index_put linalg_lstsq masked_scatter
    nanquantile nonzero_tuple one_hot quantile repeat_interleave rrelu
    view_as_real view_as_complex imag""".split())  # the last: gradients that look at memory under another dtype


def has_gradient(row):
    """Whether a row's gradient can be part of its plans."""
    return row.differentiable and not engine.is_dynamic(row)


def function_of(bound, with_gradient):
    """Return a function of tensors that calls a row's operator and differentiates it, and a maker of its arguments."""
    row, arguments = bound.row, bound.arguments
    items = arguments.inputs()
    marks = [with_gradient and wants_grad(item) for item in items]

    def forward(tensors):
        queue = iter(tensors)
        args, kwargs = arguments.map(lambda _: next(queue))
        return oracle.as_tuple(engine.operator(row)(*args, **kwargs))

    def carrying(results):
        return [result for result in chosen(row, results) if engine.is_tensor(result) and result.requires_grad]

    def make(other):
        again = bound.another(1000 * other).inputs()
        return [engine.tensor(item, mark) for item, mark in zip(again, marks)]

    engine.seed(bound.index)
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


def shown(function, make, other):
    """Return the numbers of a call's results, and of its arguments, which it may have written."""
    arguments = make(other)
    engine.seed(5)
    results = captured.leaves(function(*arguments))
    return [engine.array(tensor) for tensor in [*results, *arguments]]


def differs(mine, eager, allowed):
    """Return what differs between a replayed call and an eager one, or None."""
    if len(eager) != len(mine):
        return f"{len(mine)} results, expected {len(eager)}"
    found = (compare(a, b, allowed) for a, b in zip(mine, eager))
    return next((sentence for sentence in found if sentence), None)


class Plans:
    """Plans of a row's samples at some levels, the first `count` of them: one for the whole walk.

    A sample is traced once, and the graph compiled at each level.
    """

    def __init__(self, levels, count, with_gradient):
        self.levels, self.count, self.with_gradient, self.gave_up = levels, count, with_gradient, 0

    def check(self, bound, note):
        """Replayed calls equal eager ones, with the numbers that were captured and with others."""
        if self.count is not None and bound.index >= self.count:
            return
        row = bound.row
        try:
            function, make = function_of(bound, self.with_gradient)
            engine.seed(5)
            _, replays = captured.capture_at_levels(function, make(False), self.levels)
            self.gave_up += None in replays.values()
            replays = {level: replay for level, replay in replays.items() if replay is not None}
            if not replays:
                return
            eager = [shown(function, make, other) for other in (False, True)]
            for level, replay in replays.items():
                allowed = EXACT if level < 3 else tolerance_of(row, bound.dtype)
                for other in (False, True):
                    sentence = differs(shown(replay, make, other), eager[other], allowed)
                    note(sentence and f"at O{level}: {sentence}")
        except Exception as error:  # whatever came, the eager call did not raise it
            note(f"{type(error).__name__}: {error}")

    def excuse(self, row):
        """Return what is wrong with samples that gave no graph; None where they ask for numbers."""
        if engine.is_dynamic(row) or row.call is not None or row.name in READERS:
            return None
        return f"{self.gave_up} of {len(samples_of(row)[:self.count])} samples gave no graph"
