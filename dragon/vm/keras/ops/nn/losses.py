"""Cross-entropies, as losses are made of them."""
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.ops.common import canonical_axis, cast_to, dtype_of, operation, ops, tensor
from dragon.vm.shared.arrays.reducing import NOTHING_IGNORED, cross_entropy_of


def _logits_of(output, from_logits):
    """Return what probabilities were made of, if they remember, and whether these are logits."""
    logits = getattr(output, "_keras_logits", None)
    return (output, from_logits) if logits is None else (logits, True)


def _pair(target, output, what):
    target, output = tensor(target), tensor(output)
    if target.ndim != output.ndim:
        raise ValueError("Arguments `target` and `output` must have the same rank (ndim). Received: "
                         f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}")
    if tuple(target.shape) != tuple(output.shape):
        raise ValueError("Arguments `target` and `output` must have the same shape. Received: "
                         f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}")
    if what == "rows" and not target.ndim:
        raise ValueError("Arguments `target` and `output` must be at least rank 1. Received: "
                         f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}")
    return cast_to(target, dtype_of(output)), output


def _clipped(probability):
    return ops.clamp(probability, epsilon(), 1.0 - epsilon())


@operation
def binary_crossentropy(target, output, from_logits=False):
    """Return the cross-entropy of probabilities of one event each.

    Parameters
    ----------
    target : Tensor
        What is true, 0 to 1.

    Returns
    -------
    Tensor
        One number for each of them.

    """
    target, output = _pair(target, output, "numbers")
    output, from_logits = _logits_of(output, from_logits)
    if from_logits:
        return ops.binary_cross_entropy_with_logits(output, target, reduction="none")
    output = _clipped(output)
    return ops.neg(ops.add(ops.mul(target, ops.log(output)),
                           ops.mul(ops.sub(1, target), ops.log(ops.sub(1, output)))))


@operation
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the cross-entropy of distributions over classes.

    Parameters
    ----------
    target : Tensor
        What is true: a distribution along the axis.
    axis : int, optional, default=-1
        The axis of classes.

    """
    target, output = _pair(target, output, "rows")
    output, from_logits = _logits_of(output, from_logits)
    if from_logits:
        return cross_entropy_of(target, output, axis)
    output = _clipped(ops.div(output, ops.sum(output, axis, True)))
    return ops.neg(ops.sum(ops.mul(target, ops.log(output)), axis))


@operation
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Return the cross-entropy of distributions over classes where the true one is named by its number.

    Parameters
    ----------
    target : Tensor
        Numbers of classes.
    axis : int, optional, default=-1
        The axis of classes, the last.

    """
    target, output = tensor(target), tensor(output)
    if output.ndim < 1:
        raise ValueError(f"Argument `output` must be at least rank 1. Received: output.shape={tuple(output.shape)}")
    if canonical_axis(axis, output.ndim) != output.ndim - 1:
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    output, from_logits = _logits_of(output, from_logits)
    if target.ndim == output.ndim and target.shape[-1] == 1:
        target = ops.squeeze(target, -1)
    if tuple(target.shape) != tuple(output.shape[:-1]):
        raise ValueError("Arguments `target` and `output` must have the same shape up until the last dimension. "
                         f"Received: target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}")
    if not from_logits:
        output = ops.log(_clipped(output))
    rows = ops.cross_entropy(ops.reshape(output, (-1, output.shape[-1])),
                             ops.reshape(cast_to(target, "int64"), (-1,)), None, NOTHING_IGNORED, "none")
    return ops.reshape(rows, target.shape)
