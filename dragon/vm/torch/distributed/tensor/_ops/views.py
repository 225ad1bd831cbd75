"""Operators that show the same elements in other shapes and orders."""
import math

from dragon.distributed.globals.layout import shape_of
from dragon.distributed.globals.signatures import BROADCAST, Split, is_split
from dragon.vm.torch.core.aten.kinds import PARTS
from dragon.vm.torch.distributed.tensor._calls import Decision
from dragon.vm.torch.distributed.tensor._ops.table import rule, ways, ways_of_kind


def moved(call, where, count=1):
    """Return the ways of an operator that moves axes: `where` tells their places, None of one that must be whole."""
    x = call.operands[0]
    found = []
    for axis in range(x.ndim):
        place = where(axis)
        if place is not None:
            found.extend(([cut], [Split(place, cut.pieces)] * count) for cut in call.splits(x, axis))
    for signature in set(x.signatures):
        if not is_split(signature) and signature != BROADCAST:
            found.append(([signature], [signature] * count))
    return found


@ways("t transpose swapdims")
def _transpose(call):
    ndim = call.operands[0].ndim
    one, other = (0, ndim - 1) if call.packet.startswith("t") and "dim0" not in call.values else (
        call.values["dim0"] % max(ndim, 1), call.values["dim1"] % max(ndim, 1))
    return moved(call, lambda axis: {one: other, other: one}.get(axis, axis))


@ways("permute")
def _permute(call):
    order = [axis % call.operands[0].ndim for axis in call.values["dims"]]
    return moved(call, order.index)


@ways("unsqueeze")
def _unsqueeze(call):
    place = call.values["dim"] % (call.operands[0].ndim + 1)
    return moved(call, lambda axis: axis + (axis >= place))


@rule("squeeze")
def _squeeze(call):
    """Drop axes by the whole's sizes: a part may have one row where the whole has more."""
    x = call.operands[0]
    given = call.values.get("dim", tuple(range(x.ndim)))
    given = given if isinstance(given, (list, tuple)) else (given,)
    dropped = sorted({axis % x.ndim for axis in given if x.shape[axis % x.ndim] == 1}) if x.ndim else []
    wanted = tuple(BROADCAST if is_split(cut) and cut.axis in dropped else cut for cut in x.signatures)
    result = tuple(Split(cut.axis - sum(axis < cut.axis for axis in dropped), cut.pieces) if is_split(cut) else cut
                   for cut in wanted)

    def compute(parts):
        local = parts[0]
        return call.func.overloadpacket.dims.run(local, dropped) if not call.written else local
    return None if call.written else Decision([wanted], [result], compute)


@ways("select")
def _select(call):
    place = call.values["dim"] % call.operands[0].ndim
    return moved(call, lambda axis: None if axis == place else axis - (axis > place))


@ways("slice index_select unfold")
def _slice(call):
    x = call.operands[0]
    name = "dim" if "dim" in call.values else "dimension"
    place = call.values[name] % x.ndim
    values = call.values
    if call.packet == "slice" and (values["start"] or 0) == 0 and values["step"] == 1 and (
            values["end"] is None or values["end"] >= x.shape[place]):
        place = None  # all of it
    found = moved(call, lambda axis: None if axis == place else axis)
    return [([*wanted, *[BROADCAST] * (len(call.operands) - 1)], results) for wanted, results in found]


@ways_of_kind(PARTS)
def _split(call):
    place = call.values.get("dim", 0) % call.operands[0].ndim
    gone = call.packet == "unbind"
    return moved(call, lambda axis: None if axis == place else axis - (gone and axis > place))


@rule("expand")
def _expand(call):
    x, sizes = call.operands[0], list(call.values["size"])
    shift = len(sizes) - x.ndim
    shape = [x.shape[axis - shift] if size == -1 else size for axis, size in enumerate(sizes)]
    wanted, result = [], []
    for cut in x.signatures:
        whole = is_split(cut) and x.shape[cut.axis] != shape[cut.axis + shift]
        wanted.append(BROADCAST if whole else cut)
        result.append(BROADCAST if whole else Split(cut.axis + shift, cut.pieces) if is_split(cut) else cut)
    local = _local(call, shape, result)
    return Decision([tuple(wanted)], [tuple(result)], lambda parts: call.compute(parts, (call.args[0], local), {}))


def _local(call, shape, signatures):
    return list(shape_of(tuple(shape), tuple(signatures), call.mesh.shape, call.mesh.get_coordinate()))


@ways("repeat")
def _repeat(call):
    x, times = call.operands[0], list(call.values["repeats"])
    shift = len(times) - x.ndim
    return moved(call, lambda axis: axis + shift if times[axis + shift] == 1 else None)


@rule("view _unsafe_view reshape")
def _view(call):
    x = call.operands[0]
    if call.overload == "dtype":
        return None
    shape = list(call.values["size"] if "size" in call.values else call.values["shape"])
    if -1 in shape:
        known = math.prod(size for size in shape if size != -1)
        shape[shape.index(-1)] = math.prod(x.shape) // max(known, 1)
    wanted, result = carry(x.shape, shape, x.signatures, call.mesh.shape)
    local = _local(call, shape, result)

    def compute(parts):
        part = parts[0]
        return part.view(local) if part.is_contiguous() or call.packet == "view" and _is_viewable(part, local) \
            else part.reshape(local)
    return Decision([wanted], [result], compute)


def _is_viewable(part, shape):
    try:
        part.view(shape)
    except RuntimeError:
        return False
    return True


def groups(before, after):
    """Return which axes of two shapes of as many elements belong together: the fewest whose sizes have one product.

    Parameters
    ----------
    before : Sequence[int]
        The one shape.
    after : Sequence[int]
        The other.

    Returns
    -------
    List[Tuple[List[int], List[int]]]
        The axes, in their order.

    """
    found, i, j = [], 0, 0
    while i < len(before) or j < len(after):
        one, other = [], []
        left = right = 1
        if i < len(before):
            left, one, i = before[i], [i], i + 1
        if j < len(after) and (not one or left != 1 or after[j] == 1):
            right, other, j = after[j], [j], j + 1
        while left != right:
            if left < right:
                if i >= len(before):
                    break
                left, one, i = left * before[i], [*one, i], i + 1
            else:
                if j >= len(after):
                    break
                right, other, j = right * after[j], [*other, j], j + 1
        found.append((one, other))
    return found


def carry(before, after, signatures, mesh_shape):
    """Return the signatures under which a tensor can be seen in another shape, before and then.

    Parameters
    ----------
    before : Sequence[int]
        The shape.
    after : Sequence[int]
        The other shape.
    signatures : Sequence[Signature]
        How the tensor lies.
    mesh_shape : Sequence[int]
        The shape of the mesh.

    Returns
    -------
    Tuple[Tuple[Signature, ...], Tuple[Signature, ...]]
        Its signatures that go along, and those of what is seen.

    """
    before, after = list(before), list(after)
    if 0 in before:
        whole = tuple(BROADCAST if is_split(cut) else cut for cut in signatures)
        return whole, whole
    paired = groups(before, after)
    wanted, result = [], []
    for cut, parts in zip(signatures, mesh_shape):
        target = cut
        if is_split(cut):
            own, other = next(pair for pair in paired if cut.axis in pair[0])
            target = _carried(before, after, own, other, cut, parts)
            if target is None:
                cut = target = BROADCAST
            else:
                # What the mesh's next axes find.
                before[cut.axis] = -(-before[cut.axis] // parts)
                after[target.axis] = -(-after[target.axis] // parts)
        wanted.append(cut)
        result.append(target)
    return tuple(wanted), tuple(result)


def _carried(before, after, own, other, cut, parts):
    """Return how an axis of the other shape is cut where one of the shape is; None if none of them is cut so."""
    if len(own) == len(other) == 1:
        return Split(other[0], cut.pieces)
    pieces = math.prod(before[axis] for axis in own if axis < cut.axis) * cut.pieces
    inner = math.prod(before[axis] for axis in own if axis > cut.axis)
    total = math.prod(before[axis] for axis in own)
    if total % pieces:
        return None
    lead = math.prod(after[axis] for axis in other)
    for axis in reversed(other):  # the innermost one that begins where pieces do
        lead //= after[axis]
        if after[axis] == 1 or pieces % lead:
            continue
        rest, tail = pieces // lead, total // lead // after[axis]
        if after[axis] % rest:
            continue
        if tail == inner or before[cut.axis] // cut.pieces % parts == 0 and after[axis] // rest % parts == 0:
            return Split(axis, rest)
    return None
