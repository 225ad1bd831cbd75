"""`tf.compat.v1.losses`: distances with weights, reduced to a number or not."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.arrays.creation import cast
from dragon.vm.shared.recording.tape import stop_gradient
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.nn import losses as _losses


class Reduction:
    """The ways of making one number of many."""

    NONE, SUM, MEAN = "none", "weighted_sum", "weighted_mean"
    SUM_OVER_BATCH_SIZE, SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_over_batch_size", "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        """Return all of them."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        """Raise a ValueError unless it is one of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def _check_weights(losses, weights):
    """Raise unless weights are one number, or of the losses' shape but for axes of size 1."""
    mine, theirs = tuple(weights.shape), tuple(losses.shape)
    if mine and (len(mine) != len(theirs) or any(one not in (1, other) for one, other in zip(mine, theirs))):
        raise ValueError("weights can not be broadcast to values. values.rank={}. weights.rank={}. values.shape={}. "
                         "weights.shape={}.".format(len(theirs), len(mine), theirs, mine))


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return losses times weights, as they are or as one number.

    Parameters
    ----------
    losses : Tensor
        The losses.
    weights : Union[float, Tensor], optional
        One number, or a tensor of the losses' shape but for axes of size 1.
    scope : str, optional
        Accepted.
    loss_collection : str, optional
        Accepted: collections belong to graphs.
    reduction : str, optional, default="weighted_sum_by_nonzero_weights"
        One of `Reduction`'s.

    Returns
    -------
    Tensor
        In the losses' dtype.

    """
    Reduction.validate(reduction)
    losses = take(losses)
    dtype, wide = losses.dtype, cast(losses, float32)
    weights = cast(take(weights), float32)
    _check_weights(wide, weights)
    found = ops.mul(wide, weights)
    if reduction == Reduction.NONE:
        return cast(found, dtype)
    total = ops.sum(found)
    spread = ops.broadcast_to(weights, tuple(wide.shape))
    if reduction == Reduction.MEAN:
        total = _divided(total, ops.sum(spread))
    elif reduction == Reduction.SUM_OVER_NONZERO_WEIGHTS:
        total = _divided(total, ops.sum(cast(ops.ne(spread, 0.0), float32)))
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        total = _divided(total, ops.sum(ops.ones_like(spread)))
    return cast(total, dtype)


def _divided(total, count):
    """Return a quotient, 0 where nothing was counted."""
    from dragon.vm.tensorflow.math import divide_no_nan
    return divide_no_nan(total, count)


def _pair(labels, predictions, who, other="predictions"):
    for name, value in (("labels", labels), (other, predictions)):
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")
    labels, predictions = cast(take(labels), float32), cast(take(predictions), float32)
    if not labels.shape.is_compatible_with(predictions.shape):
        raise ValueError(f"Shapes {labels.shape} and {predictions.shape} are incompatible")
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return the absolute differences; see `compute_weighted_loss`."""
    labels, predictions = _pair(labels, predictions, "absolute_difference")
    return compute_weighted_loss(ops.abs(ops.sub(predictions, labels)), weights, scope, loss_collection, reduction)


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return the squared differences; see `compute_weighted_loss`."""
    labels, predictions = _pair(labels, predictions, "mean_squared_error")
    return compute_weighted_loss(ops.square(ops.sub(predictions, labels)), weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return half the squared differences, beyond `delta` straight lines; see `compute_weighted_loss`."""
    labels, predictions = _pair(labels, predictions, "huber_loss")
    error = ops.abs(ops.sub(predictions, labels))
    near = ops.clamp(error, None, float(delta))
    found = ops.add(ops.mul(ops.square(near), 0.5), ops.mul(ops.sub(error, near), float(delta)))
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection="losses", reduction=MEAN):
    """Return the cross entropies of probabilities; see `compute_weighted_loss`."""
    labels, predictions = _pair(labels, predictions, "log_loss")
    found = ops.neg(ops.add(ops.mul(labels, ops.log(ops.add(predictions, epsilon))),
                            ops.mul(ops.sub(1.0, labels), ops.log(ops.add(ops.sub(1.0, predictions), epsilon)))))
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return by how much logits miss a margin of 1, for labels 0 and 1; see `compute_weighted_loss`."""
    labels, logits = _pair(labels, logits, "hinge_loss", "logits")
    signs = ops.sub(ops.mul(labels, 2.0), 1.0)
    return compute_weighted_loss(ops.relu(ops.sub(1.0, ops.mul(signs, logits))), weights, scope, loss_collection,
                                 reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN,
                    dim=None):
    """Return 1 minus the products of unit vectors along an axis; see `compute_weighted_loss`."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    labels, predictions = _pair(labels, predictions, "cosine_distance")
    found = ops.sub(1.0, ops.sum(ops.mul(predictions, labels), int(axis), True))
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection="losses"):
    """Return the mean squared differences between the errors of each sample, summed; see `compute_weighted_loss`."""
    labels, predictions = _pair(labels, predictions, "mean_pairwise_squared_error")
    weights = cast(take(weights), float32)
    _check_weights(labels, weights)
    error = ops.sub(predictions, labels)
    axes = list(range(1, error.ndim))
    spread = ops.broadcast_to(weights, tuple(error.shape))
    count = ops.sum(cast(ops.ne(spread, 0.0), float32), axes, True) if axes else cast(ops.ne(spread, 0.0), float32)
    squares = ops.sum(ops.square(error), axes, True) if axes else ops.square(error)
    total = ops.square(ops.sum(error, axes, True)) if axes else ops.square(error)
    pairs = ops.maximum(ops.mul(count, ops.sub(count, 1.0)), ops.zeros_like(count))
    first = ops.mul(_divided(squares, ops.maximum(ops.sub(count, 1.0), ops.zeros_like(count))), 2.0)
    found = ops.sum(ops.mul(ops.sub(first, ops.mul(_divided(total, pairs), 2.0)), weights))
    return ops.where(ops.gt(ops.sum(count), 0.0), found, ops.zeros_like(found))


def _smoothed(labels, smoothing, classes):
    if not smoothing:
        return labels
    return ops.add(ops.mul(labels, 1 - float(smoothing)), float(smoothing) * (0.5 if classes is None else 1 / classes))


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection="losses", reduction=MEAN):
    """Return cross entropies with the sigmoids of logits; see `compute_weighted_loss`."""
    logits = take(logits)
    labels = _smoothed(cast(take(multi_class_labels), logits.dtype), label_smoothing, None)
    found = _losses.sigmoid_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection="losses",
                          reduction=MEAN):
    """Return cross entropies between distributions and the softmax of logits; see `compute_weighted_loss`."""
    logits = take(logits)
    labels = cast(take(onehot_labels), logits.dtype)
    if tuple(labels.shape) != tuple(logits.shape):
        raise ValueError(f"Shapes {labels.shape} and {logits.shape} are incompatible")
    labels = stop_gradient(labels)
    found = _losses.softmax_cross_entropy_with_logits(_smoothed(labels, label_smoothing, logits.shape[-1]), logits)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection="losses", reduction=MEAN):
    """Return cross entropies between classes and the softmax of logits; see `compute_weighted_loss`."""
    logits, labels = take(logits), take(labels)
    if labels.ndim == logits.ndim and labels.shape[-1] == 1:
        labels = ops.squeeze(labels, -1)
    weights = take(weights)
    if weights.ndim == labels.ndim + 1 and weights.shape[-1] == 1:
        weights = ops.squeeze(weights, -1)
    found = _losses.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(found, weights, scope, loss_collection, reduction)


# --- collections of graphs: nothing is collected where calls run at once

def add_loss(loss, loss_collection="losses"):
    """Do nothing: losses are collected in graphs alone."""


def get_losses(scope=None, loss_collection="losses"):
    """Return an empty list: losses are collected in graphs alone."""
    return []


def get_regularization_losses(scope=None):
    """Return an empty list: losses are collected in graphs alone."""
    return []


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """Return 0: losses are collected in graphs alone."""
    return take(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """Raise: losses are collected in graphs alone."""
    raise RuntimeError("tf.compat.v1.losses.get_total_loss: losses are collected in graphs of TensorFlow 1 alone; add "
                       "up what the functions return")
