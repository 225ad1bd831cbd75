"""Who holds what of a tensor: the parts that processes of a mesh have by its signatures.

A split deals with what the splits of the mesh's earlier axes have left, in parts of one size rounded up: the last ones
may be smaller, or empty.
"""
import functools

from dragon.distributed.globals.signatures import Split


def share(length, parts, place):
    """Return where a part of a length starts and how long it is."""
    step = -(-length // parts)
    start = min(step * place, length)
    return start, min(step, length - start)


def _cut(ranges, start, length):
    """Return what stands at some places of a list of ranges, as ranges."""
    found = []
    for first, end in ranges:
        size = end - first
        low, high = max(start, 0), min(start + length, size)
        if low < high:
            found.append((first + low, first + high))
        start -= size
    return found


def _length(ranges):
    return sum(end - first for first, end in ranges)


def deal(ranges, signature, parts, place):
    """Return the ranges that one of some processes gets of others by a split."""
    total, found = _length(ranges), []
    for piece in range(signature.pieces):
        begin, size = share(total, signature.pieces, piece)
        start, length = share(size, parts, place)
        found.extend(_cut(ranges, begin + start, length))
    joined = []
    for first, end in found:  # neighbours become one
        if joined and joined[-1][1] == first:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((first, end))
    return joined


@functools.lru_cache(4096)
def ranges_of(length, signatures, axis, mesh_shape, coordinate):
    """Return which places along an axis of a tensor a process holds, as pairs of the first and the one behind the last.

    Parameters
    ----------
    length : int
        How long the axis is.
    signatures : Tuple[Signature, ...]
        What the axes of the mesh hold; those behind the ones given do not count.
    axis : int
        The axis.
    mesh_shape : Tuple[int, ...]
        The shape of the mesh.
    coordinate : Tuple[int, ...]
        Where the process stands.

    Returns
    -------
    Tuple[Tuple[int, int], ...]
        The ranges, in the order in which they lie in the process's part.

    """
    found = [(0, length)]
    for signature, parts, place in zip(signatures, mesh_shape, coordinate):
        if type(signature) is Split and signature.axis == axis:
            found = deal(found, signature, parts, place)
    return tuple(found)


@functools.lru_cache(4096)
def shape_of(shape, signatures, mesh_shape, coordinate):
    """Return the shape of a process's part."""
    if not any(type(signature) is Split for signature in signatures):
        return shape
    return tuple(_length(ranges_of(length, signatures, axis, mesh_shape, coordinate))
                 for axis, length in enumerate(shape))


class Layout:
    """How a tensor lies on a mesh.

    Parameters
    ----------
    mesh : Mesh
        The mesh.
    shape : Sequence[int]
        The shape of the whole tensor.
    signatures : Sequence[Signature]
        What the processes along each axis of the mesh hold.

    """

    __slots__ = ("mesh", "shape", "signatures")

    def __init__(self, mesh, shape, signatures):
        self.mesh, self.shape, self.signatures = mesh, tuple(shape), tuple(signatures)

    def local_shape(self, coordinate=None):
        """Return the shape of a process's part; this one's where no other is named."""
        return shape_of(self.shape, self.signatures, self.mesh.shape, coordinate or self.mesh.coordinate)

    def ranges(self, axis, coordinate=None):
        """Return which places along an axis of the tensor a process holds."""
        return ranges_of(self.shape[axis], self.signatures, axis, self.mesh.shape, coordinate or self.mesh.coordinate)

    def offsets(self, coordinate=None):
        """Return where a process's part begins; where it has nothing of an axis, that axis's end."""
        return tuple(next((first for first, _ in self.ranges(axis, coordinate)), length)
                     for axis, length in enumerate(self.shape))
