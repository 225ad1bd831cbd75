"""How often predictions are right."""
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses.loss import squeeze_or_expand_to_same_rank
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.keras.metrics.reduction import NamedMetric
from dragon.vm.shared.tensors.tensor import ops


@operation
def accuracy(y_true, y_pred):
    """Return one where a prediction equals its target, zero elsewhere."""
    y_pred = convert_to_tensor(y_pred)
    y_true, y_pred = squeeze_or_expand_to_same_rank(convert_to_tensor(y_true, dtype=y_pred.dtype), y_pred)
    return ops.cast(y_true == y_pred, floatx())


@operation
def binary_accuracy(y_true, y_pred, threshold=0.5):
    """Return one where being above a threshold equals the target, zero elsewhere.

    Parameters
    ----------
    threshold : float, optional, default=0.5
        What predictions of yes are above.

    """
    y_true, y_pred = squeeze_or_expand_to_same_rank(convert_to_tensor(y_true), convert_to_tensor(y_pred))
    if y_pred.dtype.name == "bool":  # a yes is above a threshold as 1 is
        y_pred = ops.cast(y_pred, floatx())
    if not isinstance(threshold, (int, float)):
        threshold = convert_to_tensor(threshold, dtype=y_pred.dtype)
    return ops.cast(y_true == ops.cast(y_pred > threshold, y_true.dtype), floatx())


def _matches(y_true, y_pred):
    """Return where the largest prediction is the target's class."""
    return ops.cast(ops.cast(ops.argmax(y_pred, axis=-1), y_true.dtype) == y_true, floatx())


@operation
def categorical_accuracy(y_true, y_pred):
    """Return one where the largest prediction is of the target's class, zero elsewhere; targets are one and zeros."""
    y_true = ops.argmax(convert_to_tensor(y_true), axis=-1)
    y_pred = convert_to_tensor(y_pred)
    if len(y_true.shape) != len(y_pred.shape):
        return _matches(y_true, y_pred)
    return ops.reshape(_matches(ops.squeeze(y_true, -1), y_pred), tuple(y_true.shape))


@operation
def sparse_categorical_accuracy(y_true, y_pred):
    """Return one where the largest prediction is of the target's class, zero elsewhere; targets are numbers."""
    y_pred = convert_to_tensor(y_pred)
    y_true = convert_to_tensor(y_true, dtype=y_pred.dtype)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = ops.squeeze(y_true, -1)
    matches = _matches(y_true, y_pred)
    return ops.squeeze(matches, -1) if len(matches.shape) > 1 and matches.shape[-1] == 1 else matches


def _among_best(classes, y_pred, k):
    """Return where a class is among the k largest predictions, in the shape of the classes."""
    from dragon.vm.keras.ops import in_top_k

    flat = ops.reshape(y_pred, (-1, y_pred.shape[-1])) if len(y_pred.shape) > 2 else y_pred
    found = in_top_k(ops.cast(ops.reshape(classes, (-1,)), "int32"), flat, k=k)
    return ops.reshape(ops.cast(found, floatx()), tuple(classes.shape))


@operation
def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Return one where the target's class is among the k largest predictions; targets are one and zeros.

    Parameters
    ----------
    y_true : Any
        Targets.

    """
    return _among_best(ops.argmax(convert_to_tensor(y_true), axis=-1), convert_to_tensor(y_pred), k)


@operation
def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """Return one where the target's class is among the k largest predictions; targets are numbers.

    Parameters
    ----------
    y_true : Any
        Targets.
    y_pred : Any
        Predictions; or numbers of classes, the best first.
    from_sorted_ids : bool, optional, default=False
        The predictions are numbers of classes.

    """
    y_pred = convert_to_tensor(y_pred)
    if not from_sorted_ids:
        return _among_best(convert_to_tensor(y_true, dtype="int32"), y_pred, k)
    y_true = convert_to_tensor(y_true, dtype=y_pred.dtype)
    best = ops.narrow(ops.reshape(y_pred, (-1, y_pred.shape[-1])), 1, 0, min(k, y_pred.shape[-1]))
    found = ops.any(ops.reshape(y_true, (-1, 1)) == best, axis=1)
    return ops.reshape(ops.cast(found, floatx()), tuple(y_true.shape))


class Accuracy(NamedMetric, function=accuracy, direction="up"):
    """How often predictions equal targets. ...

    Examples
    --------
    >>> metric = keras.metrics.Accuracy()
    >>> metric.update_state([1, 2, 3, 4], [1, 2, 3, 0])
    >>> float(metric.result())
    0.75

    """


class BinaryAccuracy(NamedMetric, function=binary_accuracy, direction="up"):
    """How often being above `threshold` equals the target.

    Parameters
    ----------
    threshold : float, optional, default=0.5
        What predictions of yes are above.

    Examples
    --------
    >>> metric = keras.metrics.BinaryAccuracy(threshold=0.5)
    >>> metric.update_state([1, 0, 1, 1], [0.9, 0.2, 0.4, 0.8])
    >>> float(metric.result())
    0.75

    """


class CategoricalAccuracy(NamedMetric, function=categorical_accuracy, direction="up"):
    """How often the largest prediction is right, targets being one and zeros. ...

    Examples
    --------
    >>> metric = keras.metrics.CategoricalAccuracy()
    >>> metric.update_state([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]])
    >>> float(metric.result())
    0.5

    """


class SparseCategoricalAccuracy(NamedMetric, function=sparse_categorical_accuracy, direction="up"):
    """How often the largest prediction is right, targets being numbers. ...

    Examples
    --------
    >>> metric = keras.metrics.SparseCategoricalAccuracy()
    >>> metric.update_state([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    >>> float(metric.result())
    0.5

    """


class TopKCategoricalAccuracy(NamedMetric, direction="up"):
    """How often one of the `k` largest predictions is right; the other arguments as `Mean` has them."""

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(NamedMetric, direction="up"):
    """How often one of the `k` largest predictions is right; arguments as the function and `Mean` have them."""

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None, from_sorted_ids=False):
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k, from_sorted_ids=from_sorted_ids)

    def get_config(self):
        config = {**Metric.get_config(self), "k": self.k}
        return {**config, "from_sorted_ids": True} if self.from_sorted_ids else config
