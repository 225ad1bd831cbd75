"""Keeping gradients from being too long."""
from dragon.vm.shared.tensors.tensor import ops


def clip(grads, norm, global_norm, value, variables=()):
    """Return gradients, each no longer than `norm`, together no longer than `global_norm`, or no number beyond `value`.

    Parameters
    ----------
    grads : Sequence[Tensor]
        The gradients.
    norm, global_norm, value : Optional[float]
        The limits; at most one is set.
    variables : Sequence[Variable], optional
        Whose gradients they are: of those that are cut between processes, parts of gradients are as long as the wholes.

    """
    if norm and norm > 0:
        return [_shortened(gradient, square, norm) for gradient, square in zip(grads, _squares(grads, variables))]
    if global_norm and global_norm > 0:
        length = ops.sqrt(sum(_squares(grads, variables), 0))
        # What is not finite makes all gradients NaN: nothing hides it.
        scale = global_norm * ops.minimum(1.0 / length, 1.0 / global_norm) + (length - length)
        return [gradient * ops.cast(scale, gradient.dtype) for gradient in grads]
    if value and value > 0:
        return [ops.clamp(gradient, -value, value) for gradient in grads]
    return grads


def _squares(grads, variables):
    """Return the squares of gradients' lengths."""
    cuts = [getattr(variable, "cut", None) for variable in variables] or [None] * len(grads)
    squares = [ops.sum(ops.square(gradient)) for gradient in grads]
    return [square if cut is None else cut.sum_parts(square) for square, cut in zip(squares, cuts)]


def _shortened(gradient, square, norm):
    return gradient * norm / ops.maximum(ops.sqrt(square), norm)
