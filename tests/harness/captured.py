"""The one place of the tests that knows how a function is captured into plans, and what a call shows."""
import numpy

import dragon
from dragon import _C

AVAILABLE = hasattr(_C, "Trace")
LEVELS = (0, 1, 2, 3)


def leaves(value):
    """Return the leaves of nested lists, tuples and dicts, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def capture(function, arguments, level):
    """Call a function once, and return (the leaves of its result, a function that does the same from plans).

    Where the trace gave up, the second is None. Where the world changed (a gradient is there that was not), the
    function is captured anew.
    """
    found, replays = capture_at_levels(function, arguments, (level,))
    return found, replays[level]


def capture_at_levels(function, arguments, levels):
    """Call a function once, and return (its result's leaves, {level: a function that does the same from plans})."""
    trace = _C.Trace()
    for number, argument in enumerate(arguments):
        trace.add_input(argument, f"x{number}")
    trace.start()
    try:
        result = function(*arguments)
    finally:
        trace.stop()
    found = leaves(result)
    if trace.failure:
        return found, dict.fromkeys(levels)
    places = [number for number, leaf in enumerate(found) if isinstance(leaf, _C.Tensor)]
    captured = _finish(trace, [found[number] for number in places])
    return found, {level: _replay(function, captured, found, places, level) for level in levels}


def _replay(function, captured, found, places, level):
    """Return a function that does from plans what was captured; None where there can be none."""
    plan = _compile(captured, level)
    if plan is None:
        return None

    def again(*arguments):
        if plan.staleness(list(arguments)):
            return capture(function, arguments, level)[0]
        again.plan = plan
        for number, tensor in zip(places, plan.run(list(arguments)), strict=True):
            fresh[number] = tensor
        return list(fresh)

    fresh = list(found)
    return again


def capture_function(function, arguments, level):
    """Do the same by `dragon.function`, which checks what it takes for granted and may serve any number of rows."""
    compiled = dragon.function(function, level=level)

    def again(*arguments):
        return leaves(compiled(*arguments))

    again.function = compiled
    return again(*arguments), again


def _finish(trace, results):
    """Return what was captured; None where there can be no backward pass, since what it needs was written."""
    try:
        return trace.finish(results)
    except RuntimeError:
        return None


def _compile(captured, level):
    """Return plans with a backward pass; None where there can be none."""
    try:
        return captured and captured.compile(level, forward_level=min(level, 2))
    except RuntimeError:
        return None


def numbers(value):
    """Return a tensor as an array; anything else as it is."""
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    return numpy.array((value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy())


def shown(results, tensors, torch):
    """Return what a call shows: its results, the tensors it knew as they are now, their gradients, the next number."""
    grads = [tensor.grad for tensor in tensors]
    return [numbers(leaf) for leaf in [*results, *tensors, *grads, torch.rand(1)]]


def outer_gradients(results, tensors, torch):
    """Return the leaves' gradients of a sum of squares of the results, taken outside of the function.

    None where the results carry no gradient, or where what it needs was written or freed since.
    """
    terms = [(leaf.double() ** 2).sum() for leaf in results if hasattr(leaf, "detach") and leaf.requires_grad]
    leaves = [tensor for tensor in tensors if tensor.requires_grad and tensor.is_leaf]
    if not terms or not leaves:
        return None
    try:
        grads = torch.autograd.grad(sum(terms), leaves, allow_unused=True)
    except RuntimeError:
        return None
    return [numbers(torch.zeros_like(leaf) if grad is None else grad) for grad, leaf in zip(grads, leaves)]


def after_writing(results, tensors, torch):
    """Return what results and tensors are after one is added to each result in turn: who shares memory shows."""
    with torch.no_grad():
        for leaf in results:
            if hasattr(leaf, "detach") and leaf.is_floating_point() and leaf.numel():
                try:
                    leaf.detach().add_(1.0)
                except RuntimeError:  # several elements lie at one place
                    continue
    return [numbers(leaf) for leaf in [*results, *tensors]]


def difference(got, wanted, tolerance):
    """Return what differs between two lists of what calls show, or None."""
    if len(got) != len(wanted):
        return f"{len(got)} things, expected {len(wanted)}"
    for place, (mine, eager) in enumerate(zip(got, wanted)):
        if not isinstance(mine, numpy.ndarray) or not isinstance(eager, numpy.ndarray):
            same = mine is eager or type(mine) is type(eager) and mine == eager
        else:
            same = mine.dtype == eager.dtype and mine.shape == eager.shape and _close(mine, eager, tolerance)
        if not same:
            return f"number {place} of {len(got)}: got {mine!r}, expected {eager!r}"
    return None


def _close(mine, eager, tolerance):
    if not tolerance or mine.dtype.kind not in "fc" or not mine.size:
        return numpy.array_equal(mine, eager, equal_nan=mine.dtype.kind in "fc")
    finite = numpy.abs(eager[numpy.isfinite(eager)])
    # Cancellation loses digits of the biggest number, so that one sets the scale.
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    return numpy.allclose(mine, eager, tolerance, tolerance * scale, equal_nan=True)
