"""From one signature to another: the steps that send least, found by their cost."""
import functools
import heapq
import itertools
import math

from dragon.distributed.globals import moves
from dragon.distributed.globals.layout import shape_of
from dragon.distributed.globals.signatures import BROADCAST, Broadcast, Partial, Split

CALL_BYTES = 4096  # what could be sent in the time that a call among processes takes by itself
LOCAL = 1 / 16  # a byte copied in a process, beside one that is sent


def step_cost(size, parts, source, target):
    """Return what a step along one axis of a mesh costs, in bytes that a process receives.

    Parameters
    ----------
    size : float
        The bytes of what the processes along the axis hold together.
    parts : int
        How many they are.
    source : Signature
        What they hold.
    target : Signature
        What they shall hold.

    Returns
    -------
    float
        The cost.

    """
    if source == target or parts == 1:
        return 0.0
    others = size * (parts - 1) / parts
    if type(source) is Split:
        if type(target) is Split:
            return CALL_BYTES + others / parts + LOCAL * size / parts
        return CALL_BYTES + others if type(target) is Broadcast else others + LOCAL * size
    if type(source) is Partial:
        if type(target) is Split:
            return CALL_BYTES + others
        return CALL_BYTES + 2 * others if type(target) is Broadcast else math.inf
    # What becomes partial has to be reduced some time.
    return LOCAL * size / parts if type(target) is Split else others + LOCAL * size


def _is_free(state, place, signature):
    """Return whether a mesh's axis can change what it splits: no later axis has split that further."""
    return type(signature) is not Split or not any(
        type(later) is Split and later.axis == signature.axis for later in state[place + 1:])


@functools.lru_cache(4096)
def plan(shape, item, mesh_shape, source, target):
    """Return the cheapest steps between two signatures; the same in all processes.

    Parameters
    ----------
    shape : Tuple[int, ...]
        The shape of the whole tensor.
    item : int
        The bytes of an element.
    mesh_shape : Tuple[int, ...]
        The shape of the mesh.
    source : Tuple[Signature, ...]
        What the axes of the mesh hold.
    target : Tuple[Signature, ...]
        What they shall hold.

    Returns
    -------
    Tuple[float, Tuple[Tuple[int, Signature], ...]]
        The cost, and for each step the axis of the mesh and what it holds then.

    """
    first = (0,) * len(mesh_shape)  # whose parts are the largest
    count, known = itertools.count(), set()
    heap = [(0.0, next(count), source, ())]
    while True:  # all can be put together, and then be cut
        cost, _, state, steps = heapq.heappop(heap)
        if state == target:
            return cost, steps
        if state in known:
            continue
        known.add(state)
        size = item * math.prod(shape_of(shape, state, mesh_shape, first))
        for place, (now, wanted) in enumerate(zip(state, target)):
            for then in {wanted, BROADCAST} - {now}:
                if not _is_free(state, place, now) or not _is_free(state, place, then):
                    continue
                parts = mesh_shape[place]
                step = step_cost(size * (parts if type(now) is Split else 1), parts, now, then)
                if step < math.inf:
                    heapq.heappush(heap, (cost + step, next(count), (*state[:place], then, *state[place + 1:]),
                                          (*steps, (place, then))))


def box(ops, x, layout, target):
    """Return a process's part of a tensor by other signatures.

    Parameters
    ----------
    ops : Any
        Dragon's operators, as the face has them whose tensor it is.
    x : Tensor
        The part that the process has.
    layout : Layout
        How the tensor lies.
    target : Sequence[Signature]
        The other signatures.

    Returns
    -------
    Tensor
        The other part; `x` itself where nothing is to be done.

    """
    state, target, mesh = layout.signatures, tuple(target), layout.mesh
    if state == target or mesh.coordinate is None:
        return x
    _, steps = plan(layout.shape, x.itemsize, mesh.shape, state, target)
    for place, then in steps:
        x = moves.move(ops, x, moves.Place(mesh, layout.shape, state, place), then)
        state = (*state[:place], then, *state[place + 1:])
    return x
