"""Means of gradients over the processes of a group."""
from dragon import ops

ALONE_BYTES = 256 << 10  # from which on a gradient travels by itself: to copy it takes as long as to send it


def average(gradients, group):
    """Replace gradients by their means over all ranks, where they lie.

    Parameters
    ----------
    gradients : Sequence[Tensor]
        Of the same shapes and dtypes, in the same order, on all ranks.
    group : ProcessGroup
        The ranks.

    """
    if group.size > 1:
        for gradient, mean in zip(gradients, _means(gradients, group.number, True)):
            if mean is not gradient:
                ops.copy(mean, out=gradient)


def means(gradients, group):
    """Return the means of gradients over all ranks, as new tensors; `average` puts them in place."""
    return _means(gradients, group.number, False) if group.size > 1 else list(gradients)


def _means(gradients, number, in_place):
    made, small = list(gradients), {}
    for place, gradient in enumerate(gradients):
        if gradient.nbytes >= ALONE_BYTES:
            made[place] = ops.all_reduce(gradient, number, "average", out=gradient if in_place else None)
        else:
            small.setdefault(gradient.dtype, []).append(place)
    for places in small.values():
        rows = [ops.reshape(gradients[place], [-1]) for place in places]
        packed = ops.all_reduce(ops.cat(rows, 0), number, "average")
        for place, part in zip(places, ops.split_with_sizes(packed, [int(row.shape[0]) for row in rows], 0)):
            made[place] = ops.reshape(part, list(gradients[place].shape))
    return made
