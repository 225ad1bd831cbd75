"""Edges of images."""
from dragon.vm.shared.tensors.tensor import ops


def find_edges(framed):
    """Return how images change downwards and to the right, along a new last axis.

    Parameters
    ----------
    framed : Tensor
        The images, (batch, channels, height, width), mirrored by one place at each edge: rows are long, channels few.

    Returns
    -------
    Tensor
        (batch, height, width, channels, 2), without the frame.

    """
    down = ops.sub(ops.slice(framed, 2, 2, None), ops.slice(framed, 2, 0, -2))
    right = ops.sub(ops.slice(framed, 3, 2, None), ops.slice(framed, 3, 0, -2))
    return ops.permute(ops.stack([_smooth(down, 3), _smooth(right, 2)], -1), [0, 2, 3, 1, 4])


def _smooth(x, axis):
    """Return sums of three neighbours, of which the middle one counts twice."""
    before, middle, after = (ops.slice(x, axis, start, stop) for start, stop in ((0, -2), (1, -1), (2, None)))
    return ops.add(ops.add(before, ops.mul(middle, 2)), after)
