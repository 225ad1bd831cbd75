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
        group.runner.run(lambda: _average(gradients, group.number))


def _average(gradients, number):
    small = {}
    for gradient in gradients:
        if gradient.nbytes >= ALONE_BYTES:
            ops.all_reduce(gradient, number, "average", out=gradient)
        else:
            small.setdefault(gradient.dtype, []).append(gradient)
    for held in small.values():
        packed = ops.cat([gradient.reshape([-1]) for gradient in held], 0)
        means = ops.split_with_sizes(ops.all_reduce(packed, number, "average"), [each.numel() for each in held], 0)
        for gradient, mean in zip(held, means):
            ops.copy(mean.reshape(gradient.shape), out=gradient)
