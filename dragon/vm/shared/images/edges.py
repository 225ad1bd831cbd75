"""Edges of images."""
from dragon.vm.shared.arrays.array import pad
from dragon.vm.shared.tensors.tensor import ops


def find_edges(images):
    """Return how images (batch, height, width, channels) change downwards and to the right, along a new last axis."""
    x = pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    down = ops.sub(ops.slice(x, 1, 2, None), ops.slice(x, 1, 0, -2))
    right = ops.sub(ops.slice(x, 2, 2, None), ops.slice(x, 2, 0, -2))
    return ops.stack([_smooth(down, 2), _smooth(right, 1)], -1)


def _smooth(x, axis):
    """Return sums of three neighbours, of which the middle one counts twice."""
    before, middle, after = (ops.slice(x, axis, start, stop) for start, stop in ((0, -2), (1, -1), (2, None)))
    return ops.add(ops.add(before, ops.mul(middle, 2)), after)
