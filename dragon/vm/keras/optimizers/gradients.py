"""Keeping gradients from being too long."""
from dragon.vm.shared.tensors.tensor import ops


def clip(grads, norm, global_norm, value):
    """Return gradients, each no longer than `norm`, together no longer than `global_norm`, or no number beyond `value`.

    Parameters
    ----------
    grads : Sequence[Tensor]
        The gradients.
    norm, global_norm, value : Optional[float]
        The limits; at most one is set.

    """
    if norm and norm > 0:
        return [_shortened(gradient, norm) for gradient in grads]
    if global_norm and global_norm > 0:
        length = ops.sqrt(sum((ops.sum(ops.square(gradient)) for gradient in grads), 0))
        # What is not finite makes all gradients NaN: nothing hides it.
        scale = global_norm * ops.minimum(1.0 / length, 1.0 / global_norm) + (length - length)
        return [gradient * ops.cast(scale, gradient.dtype) for gradient in grads]
    if value and value > 0:
        return [ops.clamp(gradient, -value, value) for gradient in grads]
    return grads


def _shortened(gradient, norm):
    square = ops.sum(ops.square(gradient))
    return gradient * norm / ops.maximum(ops.sqrt(square), norm)
