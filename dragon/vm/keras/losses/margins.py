"""Losses that ask for a margin between classes, or between points that belong together and those that do not."""
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.masking import set_keras_mask
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses.regression import pair
from dragon.vm.keras.losses.wrapper import NamedLoss
from dragon.vm.shared.tensors.tensor import ops


def _signs(y_true):
    """Return labels as -1 and 1, should they all be 0 and 1."""
    binary = ops.all(ops.logical_or(y_true == 0, y_true == 1))
    return ops.where(binary, 2.0 * y_true - 1.0, y_true)


@operation
def hinge(y_true, y_pred):
    """Return the mean, along the last axis, of what misses a margin of one; labels are -1 and 1, or 0 and 1."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    return ops.mean(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


@operation
def squared_hinge(y_true, y_pred):
    """Return the mean square, along the last axis, of what misses a margin of one."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    return ops.mean(ops.square(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


@operation
def categorical_hinge(y_true, y_pred):
    """Return how much the best wrong class comes within one of the right class."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    right = ops.sum(y_true * y_pred, axis=-1)
    wrong = ops.amax((1.0 - y_true) * y_pred, axis=-1)
    return ops.maximum(wrong - right + 1.0, 0.0)


def normalize(x, axis=-1):
    """Return vectors of length one along an axis; those near zero stay near zero."""
    square = ops.sum(ops.square(x), axis=axis, keepdims=True)
    return x * ops.minimum(ops.rsqrt(square), 1.0 / epsilon())


@operation
def cosine_similarity(y_true, y_pred, axis=-1):
    """Return minus the cosine of the angle between targets and predictions along an axis."""
    y_true, y_pred = pair(y_true, y_pred)
    return -ops.sum(normalize(y_true, axis) * normalize(y_pred, axis), axis=axis)


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """Return the circle loss of embeddings: near those of their class, far from the others.

    Parameters
    ----------
    y_true : Any
        The class of each embedding.
    y_pred : Any
        Embeddings of length one.
    ref_labels : Any, optional
        Classes of what to compare with; the targets by default.
    ref_embeddings : Any, optional
        What to compare with; the predictions by default.
    remove_diagonal : bool, optional, default=True
        Do not compare an embedding with itself.
    gamma : float, optional, default=80
        A scale.
    margin : float, optional, default=0.4
        How far classes shall be apart.

    """
    y_pred = convert_to_tensor(y_pred)
    labels = convert_to_tensor(y_true, dtype="int32")
    embeddings = y_pred if ref_embeddings is None else convert_to_tensor(ref_embeddings)
    ref_labels = labels if ref_labels is None else convert_to_tensor(ref_labels, dtype="int32")
    distance = ops.maximum(1 - ops.matmul(y_pred, ops.transpose(embeddings, 0, 1)), 0.0)
    near = ops.reshape(labels, (-1, 1)) == ops.reshape(ref_labels, (1, -1))
    far = ops.logical_not(near)
    if remove_diagonal:
        near = ops.logical_and(near, ops.eye(*near.shape) == 0)
    pull = -gamma * ops.maximum(margin + distance, 0.0) * (margin - distance)
    push = gamma * ops.maximum(1 + margin - distance, 0.0) * (1 - margin - distance)
    pull, push = (ops.logsumexp(ops.where(mask, x, float("-inf")), axis=1) for mask, x in ((near, pull), (far, push)))
    loss = ops.softplus(pull + push)
    set_keras_mask(loss, loss > 0)
    return loss


class Hinge(NamedLoss, function=hinge):
    """What misses a margin of one; labels are -1 and 1, or 0 and 1; arguments as `Loss` has them."""


class SquaredHinge(NamedLoss, function=squared_hinge):
    """The square of what misses a margin of one; arguments as `Loss` has them."""


class CategoricalHinge(NamedLoss, function=categorical_hinge):
    """How much the best wrong class comes within one of the right class; arguments as `Loss` has them."""


class CosineSimilarity(NamedLoss, function=cosine_similarity, _left_out="axis"):
    """Minus the cosine of the angle between vectors along `axis`; the other arguments as `Loss` has them."""


class Circle(NamedLoss):
    """The circle loss of embeddings, with arguments as `circle` and `Loss` have them."""

    def __init__(self, gamma=80.0, margin=0.4, remove_diagonal=True, reduction="sum_over_batch_size", name="circle",
                 dtype=None):
        super().__init__(circle, reduction, name, dtype, gamma=gamma, margin=margin, remove_diagonal=remove_diagonal)
