"""Derivatives three ways: against PyTorch's, against finite differences, and the derivatives' own derivatives."""
import warnings

import numpy
import pytest

from harness import engine, oracle
from harness.checks import call, chosen, walk
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


def check_against_torch(row, dtype):
    """First derivatives equal those of PyTorch's autograd."""
    torch = oracle.need_torch()
    if row.torch is None and row.numpy is not None or row.random:
        pytest.skip("its oracle has no gradients; finite differences are taken")
    function = oracle.torch_function(row)

    def check(arguments, note):
        items = arguments.inputs()
        if not any(wants_grad(item) for item in items):
            return
        made = [engine.tensor(item, wants_grad(item)) for item in items]
        results = differentiable_results(row, call(row, arguments, iter_maker(made)))
        cotangents = cotangents_for(numpy.random.default_rng(7), results)
        leaves = [x for x, item in zip(made, items) if wants_grad(item)]
        got = engine.grad(results, leaves, [engine.tensor(item) for item in cotangents])

        mirrors = [oracle.torch_tensor(item, requires_grad=wants_grad(item)) for item in items]
        args, kwargs = arguments.map(iter_maker(mirrors))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = chosen(row, oracle.as_tuple(function(*args, **kwargs)))
        theirs = [y for y in theirs if isinstance(y, torch.Tensor) and y.requires_grad]
        if len(theirs) != len(results):
            note(f"{len(results)} results carry gradients, expected {len(theirs)}")
            return
        wanted = torch.autograd.grad(theirs, [x for x in mirrors if x.requires_grad],
                                     [oracle.torch_tensor(item) for item in cotangents], allow_unused=True)
        for index, (mine, other) in enumerate(zip(got, wanted)):
            sentence = compare(fill(mine, leaves[index]), oracle.torch_array(other) if other is not None
                               else numpy.zeros(tuple(leaves[index].shape)), tolerance_of(row, dtype))
            note(sentence and f"gradient {index}: {sentence}")
    walk(row, dtype, check)


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


def compare_slopes(function, items, note, close, second=False):
    """Compare the gradient's inner product with a random direction with the function's slope along it."""
    rng = numpy.random.default_rng(11)
    made = [engine.tensor(item, wants_grad(item)) for item in items]
    leaves = [x for x, item in zip(made, items) if wants_grad(item)]
    results = function(made)
    if not results:
        note(None if second else "no result carries a gradient")
        return
    cotangents = cotangents_for(rng, results)
    directions = [item.array for item in cotangents_for(rng, leaves)]
    gradients = engine.grad(results, leaves, [engine.tensor(item) for item in cotangents])
    got = inner([fill(g, x) for g, x in zip(gradients, leaves)], directions)
    wanted = slope(function, items, cotangents, directions)
    scale = max(abs(wanted), numpy.sqrt(sum(item.array.size for item in cotangents)))
    if not abs(got - wanted) <= close[1] + close[0] * scale:
        order = "second" if second else "first"
        note(f"{order} derivative along a direction is {got:.9g}, by differences {wanted:.9g}")


def check_first(row, dtype):
    """First derivatives agree with finite differences."""
    def check(arguments, note):
        items = arguments.inputs()
        if any(wants_grad(item) for item in items) and all(item.array.size for item in items):
            compare_slopes(lambda made: differentiable_results(row, call(row, arguments, iter_maker(made))), items,
                           note, CLOSE)
    walk(row, dtype, check)


def check_second(row, dtype):
    """The derivatives of the first derivatives, also by their cotangents, agree with finite differences."""
    if row.second is not True:
        pytest.skip(str(row.second))

    def check(arguments, note):
        items = arguments.inputs()
        if not any(wants_grad(item) for item in items) or not all(item.array.size for item in items):
            return
        trial = differentiable_results(row, call(row, arguments, lambda item: engine.tensor(item, wants_grad(item))))
        cotangents = cotangents_for(numpy.random.default_rng(13), trial)

        def gradients(made):
            xs, us = made[:len(items)], made[len(items):]
            results = differentiable_results(row, call(row, arguments, iter_maker(xs)))
            leaves = [x for x, item in zip(xs, items) if wants_grad(item)]
            found = engine.grad(results, leaves, us, create_graph=True)
            return [g for g in found if g is not None and g.requires_grad]
        compare_slopes(gradients, items + cotangents, note, CLOSE_SECOND, second=True)
    walk(row, dtype, check)
