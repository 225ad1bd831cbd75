"""Derivatives three ways: against PyTorch's, against finite differences, and the derivatives' own derivatives."""

import numpy

from harness import engine, oracle
from harness.checks import call, chosen
from harness.inputs import Input, round_to
from harness.tolerance import compare, tolerance_of

STEP = 1e-6
# A central difference in float64 keeps about ten digits of a well-scaled function.
CLOSE = (1e-5, 1e-6)
CLOSE_SECOND = (2e-4, 1e-5)


def wants_grad(item):
    """Whether an Input is differentiated."""
    return item.grad and item.inexact


def differentiable_results(row, results):
    """Return the chosen results that carry gradients."""
    return [result for result in chosen(row, results) if engine.is_tensor(result) and result.requires_grad]


def cotangents_for(rng, results):
    """Return one random cotangent, as an Input, for each result."""
    drawn = []
    for result in results:
        shape, dtype = tuple(result.shape), engine.dtype_name(result)
        values = rng.standard_normal(shape)
        if dtype.startswith("complex"):
            values = values + 1j * rng.standard_normal(shape)
        drawn.append(Input(round_to(numpy.asarray(values), dtype), dtype, True))
    return drawn


class First:
    """The first derivatives of one call: how many results have any, their cotangents, and the leaves' gradients."""

    def __init__(self, function, items, rng):
        made = [engine.tensor(item, wants_grad(item)) for item in items]
        self.leaves = [x for x, item in zip(made, items) if wants_grad(item)]
        results = function(made)
        self.count, self.cotangents = len(results), cotangents_for(rng, results)
        found = engine.grad(results, self.leaves, [engine.tensor(item) for item in self.cotangents]) if results else []
        self.gradients = [fill(grad, leaf) for grad, leaf in zip(found, self.leaves)]


def first_of(row, arguments):
    """Return the first derivatives of a call of a row; None where no input has any."""
    items = arguments.inputs()
    if not any(map(wants_grad, items)):
        return None
    return First(differentiable(row, arguments), items, numpy.random.default_rng(7))


def differentiable(row, arguments):
    """Return a call of a row as a function of its tensors to the results that carry gradients."""
    return lambda made: differentiable_results(row, call(row, arguments, iter_maker(made)))


def has_torch_gradients(row):
    """Whether PyTorch's autograd is the oracle of a row; where NumPy is, finite differences are taken."""
    return (row.torch is not None or row.numpy is None) and not row.random


def check_against_torch(bound, note):
    """First derivatives equal those of PyTorch's autograd."""
    row, first = bound.row, bound.first
    if first is None:
        return
    count, wanted = oracle.torch_gradients(row, bound.arguments, first.cotangents, wants_grad)
    if count != first.count:
        note(f"{first.count} results carry gradients, expected {count}")
        return
    for index, (mine, other) in enumerate(zip(first.gradients, wanted)):
        sentence = compare(mine, other, tolerance_of(row, bound.dtype))
        note(sentence and f"gradient {index}: {sentence}")


def fill(grad, like):
    """Return a gradient's numbers, zeros for None."""
    return numpy.zeros(tuple(like.shape)) if grad is None else engine.array(grad)


def iter_maker(made):
    """Return a function for Arguments.map that hands out these tensors in order."""
    queue = iter(made)
    return lambda _: next(queue)


def inner(gradients, directions):
    """Return the real inner product of gradients and directions."""
    return sum(float(numpy.real(numpy.vdot(g, v))) for g, v in zip(gradients, directions))


def slope(function, items, cotangents, directions):
    """Return the central difference of <cotangents, function> along directions."""
    values = []
    for sign in (1, -1):
        queue = iter(directions)
        moved = [Input(item.array + sign * STEP * next(queue), item.dtype, True) if wants_grad(item) else item
                 for item in items]
        results = function([engine.tensor(item, wants_grad(item)) for item in moved])
        values.append([engine.array(result) for result in results])
    differences = [(a - b) / (2 * STEP) for a, b in zip(*values)]
    return inner([item.array for item in cotangents], differences)


def compare_slopes(function, items, first, note, close, order):
    """Compare the gradients' inner product with a random direction with the function's slope along it."""
    directions = [item.array for item in cotangents_for(numpy.random.default_rng(11), first.leaves)]
    got = inner(first.gradients, directions)
    wanted = slope(function, items, first.cotangents, directions)
    scale = max(abs(wanted), numpy.sqrt(sum(item.array.size for item in first.cotangents)))
    if not abs(got - wanted) <= close[1] + close[0] * scale:
        note(f"{order} derivative along a direction is {got:.9g}, by differences {wanted:.9g}")


def check_first(bound, note):
    """First derivatives agree with finite differences."""
    if not bound.has_numbers:
        return
    if not bound.first.count:
        note("no result carries a gradient")
        return
    compare_slopes(differentiable(bound.row, bound.arguments), bound.arguments.inputs(), bound.first, note, CLOSE,
                   "first")


def check_second(bound, note):
    """The derivatives of the first derivatives, also by their cotangents, agree with finite differences."""
    if not bound.has_numbers:
        return
    row, arguments, items = bound.row, bound.arguments, bound.arguments.inputs()

    def gradients(made):
        xs, us = made[:len(items)], made[len(items):]
        results = differentiable_results(row, call(row, arguments, iter_maker(xs)))
        leaves = [x for x, item in zip(xs, items) if wants_grad(item)]
        found = engine.grad(results, leaves, us, create_graph=True)
        return [g for g in found if g is not None and g.requires_grad]
    items_and_cotangents = items + bound.first.cotangents
    second = First(gradients, items_and_cotangents, numpy.random.default_rng(13))
    if second.count:
        compare_slopes(gradients, items_and_cotangents, second, note, CLOSE_SECOND, "second")
