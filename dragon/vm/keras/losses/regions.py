"""Losses of areas that overlap, and of sequences without alignment."""
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses.regression import pair
from dragon.vm.keras.losses.wrapper import NamedLoss
from dragon.vm.shared.tensors.tensor import ops


@operation
def dice(y_true, y_pred, axis=None):
    """Return one minus twice the overlap over the sum of both areas, along axes or of all."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    overlap = ops.sum(y_true * y_pred, axis=axis)
    return 1 - 2.0 * overlap / (ops.sum(y_true, axis=axis) + ops.sum(y_pred, axis=axis) + epsilon())


@operation
def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """Return one minus the overlap over itself and weighted errors.

    Parameters
    ----------
    y_true : Any
        The targets.
    y_pred : Any
        The predictions.
    alpha : float, optional, default=0.5
        The weight of targets that were not predicted.
    beta : float, optional, default=0.5
        The weight of predictions that are no targets.
    axis : Optional[Union[int, Sequence[int]]], optional
        What to sum along; all by default.

    """
    y_true, y_pred = pair(y_true, y_pred, align=False)
    overlap = ops.sum(y_true * y_pred, axis=axis)
    missed = ops.sum((1 - y_pred) * y_true, axis=axis)
    invented = ops.sum(y_pred * (1 - y_true), axis=axis)
    return 1 - overlap / (overlap + missed * alpha + invented * beta + epsilon())


@operation
def ctc(y_true, y_pred):
    """Return the negative log-likelihood of label sequences under logits (batch, time, classes); class 0 is blank.

    Parameters
    ----------
    y_true : Any
        Labels (batch, longest) of integers, filled up with zeros.
    y_pred : Any
        Logits.

    """
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    if len(y_true.shape) != 2:
        raise ValueError("Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in integer "
                         f"format. Received: y_true.shape={tuple(y_true.shape)}")
    if len(y_pred.shape) != 3:
        raise ValueError("Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, num_classes)`."
                         f" Received: y_pred.shape={tuple(y_pred.shape)}")
    labels = ops.cast(y_true, "int64")
    lengths = ops.sum(ops.cast(labels != 0, "int64"), axis=-1)
    steps = ops.full_like(lengths, y_pred.shape[1])
    # In 32 bits at least, which the sums over all alignments need.
    wide = ops.cast(y_pred, "float32") if y_pred.dtype.name in ("float16", "bfloat16") else y_pred
    logs = ops.permute(ops.log_softmax(wide, axis=-1), (1, 0, 2))
    return ops.cast(ops.ctc_loss(logs, labels, steps, lengths, blank=0, reduction="none"), y_pred.dtype)


class Dice(NamedLoss):
    """One minus twice the overlap over the sum of both areas, along `axis`; others as `Loss` has them."""

    def __init__(self, reduction="sum_over_batch_size", name="dice", axis=None, dtype=None):
        super().__init__(dice, reduction, name, dtype, axis=axis)


class Tversky(NamedLoss):
    """One minus the overlap over itself and weighted errors, with arguments as `tversky` and `Loss` have them."""

    def __init__(self, alpha=0.5, beta=0.5, reduction="sum_over_batch_size", name="tversky", axis=None, dtype=None):
        super().__init__(tversky, reduction, name, dtype, alpha=alpha, beta=beta, axis=axis)


class CTC(NamedLoss, function=ctc):
    """The negative log-likelihood of label sequences without alignment; arguments as `Loss` has them."""
