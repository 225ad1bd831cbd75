"""One graph for all sizes of a batch: two captures, and a third that computes nothing, tell what follows the size."""
import threading

from dragon import _C
from dragon.core import modes
from dragon.core.capture.lines import user_line
from dragon.core.capture.settings import captures
from dragon.core.capture.sizes import BATCH, Watch
from dragon.core.capture.symbols import SymbolicNumber
from dragon.core.capture.structure import Template

LARGEST_CACHE = 32  # sizes whose plans are kept


class _Rehearsal:
    """A call that makes shapes only."""

    is_trace = False

    def __init__(self, trace):
        self.trace = trace

    def symbol(self, value, container, key):
        number = SymbolicNumber(value)
        number.symbol = self.trace.add_symbol(str(key))
        return number


class Family:
    """Plans for every size of the first axis of some arguments, made when they are needed."""

    def __init__(self, family, plans, options):
        self._family, self._plans, self._options = family, plans, options
        self._lock = threading.Lock()

    graph = property(lambda self: self._family.graph, doc="The graph, with the size as a symbol.")
    sizes = property(lambda self: [size for size, plan in self._plans.items() if plan is not None],
                     doc="The sizes for which there are plans.")

    def plan(self, size):
        """Return what runs a call with arguments of this size, or None where the graph does not hold for it.

        At each new size all operators are asked again what they make of their operands: `x[:4]` of three rows is
        another graph than of ten.
        """
        try:
            return self._plans[size]
        except KeyError:
            pass
        with self._lock:
            try:
                plan = self._family.compile_at(size, **self._options)
            except Exception:  # whatever an operator says to operands that it was never meant for
                plan = None
            self._plans[size] = plan
            while len(self._plans) > LARGEST_CACHE:
                del self._plans[next(iter(self._plans))]
        return plan


def batch_of(old, new):
    """Return how arguments differ, if they do so in one common first size only.

    Parameters
    ----------
    old : Sequence[tuple]
        The shapes of the tensors among the arguments.
    new : Sequence[tuple]
        The same, of another call.

    Returns
    -------
    Optional[tuple]
        The numbers of the arguments, and the two sizes.

    """
    if len(old) != len(new):
        return None
    numbers = [number for number, (one, other) in enumerate(zip(old, new)) if one != other]
    if not numbers or any(len(old[n]) != len(new[n]) or old[n][1:] != new[n][1:] for n in numbers):
        return None
    sizes = {(old[n][0], new[n][0]) for n in numbers}
    (before, now), = sizes if len(sizes) == 1 else {(0, 0)}
    return (numbers, before, now) if before > 1 and now > 1 else None


def rehearse(recording, numbers, watch):
    """Return a capture of the same call for `BATCH` without computing anything, and the result's template.

    Parameters
    ----------
    recording : Recording
        The call.
    numbers : Sequence[int]
        Which of its tensors have the size.
    watch : Watch
        Looks on at what sizes decide.

    Returns
    -------
    Optional[tuple]
        (captured, Template); None where the function looks at numbers, or fails at that size.

    """
    arguments = Template((recording.args, recording.kwargs), merge=False)
    if len(arguments.tensors) != len(recording.inputs):
        return None
    chosen = [_C.phantom_like(tensor, (BATCH, *tuple(tensor.shape)[1:])) if number in numbers else tensor
              for number, tensor in enumerate(recording.inputs)]
    trace = _C.Trace()
    trace.set_place(user_line)
    for tensor in chosen:
        trace.add_input(tensor)
    args, kwargs = arguments.fill(chosen)
    phantom, maker = modes.set_phantom(True), modes.set_size_maker(watch)
    captures().append(_Rehearsal(trace))
    trace.start()
    try:
        template = Template(recording.function(*args, **kwargs))
    except Exception:  # it may do anything with tensors that hold no numbers
        trace.restore_gradients()
        return None
    finally:
        trace.stop()
        captures().pop()
        modes.set_phantom(phantom)
        modes.set_size_maker(maker)
    try:
        if trace.failure or watch.escaped:
            return None
        for number, tensor in trace.outside_inputs:
            if id(tensor) not in recording.guards.tensors:
                owner = recording.owners.get(_C.memory_key(tensor))
                if owner is None:
                    return None
                trace.set_owner(number, owner)
        return trace.finish(template.tensors), template
    except RuntimeError:
        return None
    finally:
        trace.restore_gradients()


def unify(older, recording, newer, options):
    """Return the family of two captures, if there is one.

    Parameters
    ----------
    older : Variant
        The first.
    recording : Recording
        The second call.
    newer : Variant
        Its graph.
    options : dict
        How plans are made.

    Returns
    -------
    Optional[tuple]
        The plans for all sizes, the arguments' numbers, and between which sizes it holds.

    """
    found = batch_of(older.shapes, newer.shapes)
    if found is None or older.signature != newer.signature:
        return None
    numbers, before, now = found
    if any(not recording.inputs[number].is_contiguous() for number in numbers):
        return None
    inputs = newer.captured.inputs
    written = [inputs[number][1] for number in newer.captured.written]
    if any(kind == "gradient" for kind, _ in inputs) or any(
            tensor is not None and tensor.requires_grad and not tensor.is_leaf for tensor in written):
        return None
    watch = Watch(_sizes_in(older.captured.graph) & _sizes_in(newer.captured.graph))
    trial = rehearse(recording, numbers, watch)
    if trial is None or trial[1].signature() != newer.signature:
        return None
    if not all(watch.low <= size <= watch.high for size in (before, now)):
        return None
    try:
        family = _C.unify([(older.captured, before), (newer.captured, now), (trial[0], BATCH)])
    except Exception:  # something does not follow the size in a straight line, or the backward pass cannot be made
        return None
    return Family(family, {before: older.compiled, now: newer.compiled}, options), numbers, watch.low, watch.high


def _sizes_in(graph):
    """Return all sizes of a graph's values."""
    return {size for value in graph.values for size in value.shape}
