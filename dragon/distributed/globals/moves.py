"""The steps between signatures along one axis of a mesh: what is sent, cut and put together."""
import math

from dragon.distributed.globals.layout import deal, shape_of
from dragon.distributed.globals.signatures import Broadcast, Partial, Split


class Place:
    """Where a step is made: an axis of a mesh, and what the tensor is before it.

    Parameters
    ----------
    mesh : Mesh
        The mesh.
    shape : Tuple[int, ...]
        The shape of the whole tensor.
    signatures : Tuple[Signature, ...]
        What the axes of the mesh hold before.
    axis : int
        The axis of the mesh.

    """

    def __init__(self, mesh, shape, signatures, axis):
        self.mesh, self.shape, self.signatures, self.axis = mesh, shape, signatures, axis
        self.parts, self.rank = mesh.shape[axis], mesh.coordinate[axis]
        self.source = signatures[axis]

    def run(self, call):
        """Make a call of the number of the axis's group."""
        return self.mesh.run(self.axis, call)

    def whole_shape(self):
        """Return the shape of what the processes along the axis hold together."""
        without = (*self.signatures[:self.axis], Broadcast(), *self.signatures[self.axis + 1:])
        return shape_of(self.shape, without, self.mesh.shape, self.mesh.coordinate)

    def dealt(self, signature):
        """Return the ranges of what they hold together that each of them has by a split."""
        length = self.whole_shape()[signature.axis]
        return [deal([(0, length)], signature, self.parts, rank) for rank in range(self.parts)]


def length_of(ranges):
    """Return how many places ranges have."""
    return sum(end - first for first, end in ranges)


def take(ops, x, axis, ranges):
    """Return what stands in ranges of an axis, one after the other."""
    if len(ranges) == 1 and ranges[0] == (0, x.shape[axis]):
        return x
    found = [ops.narrow(x, axis, first, end - first) for first, end in ranges or [(0, 0)]]
    return ops.contiguous(found[0] if len(found) == 1 else ops.cat(found, axis))


def move(ops, x, place, target):
    """Return a process's part after a step."""
    source = place.source
    if type(source) is Split:
        if type(target) is Split:
            return _exchange(ops, x, place, source, target)
        return _gather(ops, x, place, source) if type(target) is Broadcast else _spread(ops, x, place, source, target)
    if type(source) is Partial:
        if type(target) is Split:
            return _reduce_scatter(ops, x, place, source, target)
        return place.run(lambda group: ops.all_reduce(ops.contiguous(x), group, source.reduction))
    if type(target) is Split:
        return take(ops, x, target.axis, place.dealt(target)[place.rank])
    return _divide(ops, x, place, target)


def _exchange(ops, x, place, source, target):
    """Send each process what it has of another axis; `x` becomes whole along the one and cut along the other."""
    if source.axis == target.axis:
        whole = _gather(ops, x, place, source)
        return take(ops, whole, target.axis, place.dealt(target)[place.rank])
    shape = list(place.whole_shape())
    shape[source.axis] = x.shape[source.axis]
    others, mine = place.dealt(source), place.dealt(target)
    rows = ops.cat([ops.reshape(take(ops, x, target.axis, ranges), (-1,)) for ranges in mine], 0)
    rest = math.prod(size for axis, size in enumerate(shape) if axis not in (source.axis, target.axis))
    sends = [rest * x.shape[source.axis] * length_of(ranges) for ranges in mine]
    width = length_of(mine[place.rank])
    receives = [rest * width * length_of(ranges) for ranges in others]
    rows = place.run(lambda group: ops.all_to_all(rows, group, sends, receives))
    shape[target.axis], found, start = width, [], 0
    for ranges, count in zip(others, receives):
        shape[source.axis] = length_of(ranges)
        found.append(ops.reshape(ops.narrow(rows, 0, start, count), tuple(shape)))
        start += count
    return in_order(ops, ops.cat(found, source.axis), source.axis, others)


def in_order(ops, x, axis, dealt):
    """Return what processes hold, one after the other, in the order in which it stood before it was dealt."""
    found, start = [], 0
    for ranges in dealt:
        for first, end in ranges:
            found.append((first, start, end - first))
            start += end - first
    if found == sorted(found):
        return x
    return ops.cat([ops.narrow(x, axis, start, length) for _, start, length in sorted(found)], axis)


def _gather(ops, x, place, source):
    """Put the parts of all together; each sends as many rows as the first, which has most."""
    axis, dealt = source.axis, place.dealt(source)
    most = length_of(dealt[0])
    rows = ops.contiguous(ops.moveaxis(x, axis, 0))
    if rows.shape[0] < most:
        rows = ops.cat([rows, ops.zeros((most - rows.shape[0], *rows.shape[1:]), dtype=x.dtype, device=x.device)], 0)
    rows = place.run(lambda group: ops.all_gather(rows, group))
    sizes = [length_of(ranges) for ranges in dealt]
    if sum(sizes) < most * place.parts:
        rows = ops.cat([ops.narrow(rows, 0, rank * most, size) for rank, size in enumerate(sizes)], 0)
    return ops.contiguous(ops.moveaxis(in_order(ops, rows, 0, dealt), 0, axis))


def _reduce_scatter(ops, x, place, source, target):
    """Reduce, and keep a part: each gets as many rows as the first, and leaves out what is too much."""
    axis, dealt = target.axis, place.dealt(target)
    most, rows = length_of(dealt[0]), ops.moveaxis(x, axis, 0)
    parts = []
    for ranges in dealt:
        part = take(ops, rows, 0, ranges)
        parts.append(part)
        if part.shape[0] < most:
            parts.append(ops.zeros((most - part.shape[0], *part.shape[1:]), dtype=x.dtype, device=x.device))
    rows = ops.contiguous(rows) if target.pieces == 1 and len(parts) == place.parts else ops.cat(parts, 0)
    found = place.run(lambda group: ops.reduce_scatter(rows, group, source.reduction))
    found = ops.narrow(found, 0, 0, length_of(dealt[place.rank]))
    return ops.contiguous(ops.moveaxis(found, 0, axis))


def _divide(ops, x, place, target):
    """Return what reduces to what all have: where a sum is to be taken, one has it and the others zeros."""
    if target.reduction in ("average", "maximum", "minimum") or place.rank == 0:
        return x
    return ops.zeros_like(x) if target.reduction == "sum" else ops.ones_like(x)


def _spread(ops, x, place, source, target):
    """Return a tensor of the whole shape with a process's part in its place, which all sum up to the tensor."""
    if target.reduction != "sum":
        whole = _gather(ops, x, place, source)
        return _divide(ops, whole, place, target)
    axis, start, found = source.axis, 0, []
    length, at = place.whole_shape()[axis], 0

    def nothing(size):
        return ops.zeros((*x.shape[:axis], size, *x.shape[axis + 1:]), dtype=x.dtype, device=x.device)
    for first, end in place.dealt(source)[place.rank]:
        found.extend([nothing(first - at), ops.narrow(x, axis, start, end - first)])
        start, at = start + end - first, end
    return ops.cat([*found, nothing(length - at)], axis)
