"""Cross entropies: of one class and of many, focused on what is hard, and robust against wrong labels."""

from dragon.core import warnings
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.masking import set_keras_mask
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses.regression import pair
from dragon.vm.keras.losses.wrapper import NamedLoss
from dragon.vm.shared.tensors.tensor import ops


def _classes(name, y_true, y_pred, label_smoothing, axis):
    """Return targets and predictions of many classes, the targets smoothed."""
    if isinstance(axis, bool):
        raise ValueError(f"`axis` must be of type `int`. Received: axis={axis} of type {type(axis)}")
    y_true, y_pred = pair(y_true, y_pred, align=False)
    if y_pred.shape[-1] == 1:
        warnings.warn(f"In loss {name}, expected y_pred.shape to be (batch_size, num_classes) with num_classes > 1; "
                      f"'binary_crossentropy' is for two classes. Received: y_pred.shape={tuple(y_pred.shape)}.",
                      SyntaxWarning)
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / y_true.shape[-1]
    return y_true, y_pred


def _smooth(y_true, label_smoothing):
    return y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing if label_smoothing else y_true


@operation
def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Return the cross entropy of predicted distributions with true ones.

    Parameters
    ----------
    y_true : Any
        The true probability of each class: one and zeros as a rule.

    """
    from dragon.vm.keras.ops import categorical_crossentropy as cross_entropy

    y_true, y_pred = _classes("categorical_crossentropy", y_true, y_pred, label_smoothing, axis)
    return cross_entropy(y_true, y_pred, from_logits=from_logits, axis=axis)


@operation
def categorical_focal_crossentropy(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0,
                                   axis=-1):
    """Return the cross entropy in which classes that are already well predicted count less.

    Parameters
    ----------
    y_true : Any
        The true probability of each class.
    alpha : Union[float, Sequence[float]], optional, default=0.25
        The weight of each class.
    gamma : float, optional, default=2.0
        How much less: the power of one minus the prediction.

    """
    y_true, y_pred = _classes("categorical_focal_crossentropy", y_true, y_pred, label_smoothing, axis)
    if from_logits:
        y_pred = ops.softmax(y_pred, axis=axis)
    chance = ops.clamp(y_pred / ops.sum(y_pred, axis=axis, keepdims=True), epsilon(), 1.0 - epsilon())
    alpha = alpha if isinstance(alpha, (int, float)) else convert_to_tensor(alpha, dtype=y_pred.dtype)
    return ops.sum(ops.pow(1.0 - chance, gamma) * alpha * (-y_true * ops.log(chance)), axis=axis)


@operation
def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """Return the cross entropy of predicted distributions with classes given by number.

    Parameters
    ----------
    y_pred : Any
        The predicted probability of each class, or logits.
    ignore_class : Optional[int], optional
        A number whose samples do not count.

    """
    from dragon.vm.keras.ops import sparse_categorical_crossentropy as cross_entropy

    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[axis] == 1:
        y_true = ops.squeeze(y_true, axis)
    if ignore_class is None:
        return cross_entropy(y_true, y_pred, from_logits=from_logits, axis=axis)
    valid = y_true != ignore_class
    y_true = ops.where(valid, y_true, 0)
    y_pred = ops.where(ops.unsqueeze(valid, axis), y_pred, 0)
    values = cross_entropy(y_true, y_pred, from_logits=from_logits, axis=axis)
    values = ops.where(ops.reshape(valid, tuple(values.shape)), values, 0.0)
    set_keras_mask(values, valid)
    return values


@operation
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """Return the mean cross entropy, along an axis, of predictions of yes or no.

    Parameters
    ----------
    y_true : Any
        One for yes, zero for no.
    y_pred : Any
        The predicted probability of yes, or logits.
    label_smoothing : float, optional, default=0.0
        How far targets are moved towards one half.
    axis : int, optional, default=-1
        What to take the mean along.

    """
    from dragon.vm.keras.ops import binary_crossentropy as cross_entropy

    y_true, y_pred = pair(y_true, y_pred, align=False)
    return ops.mean(cross_entropy(_smooth(y_true, label_smoothing), y_pred, from_logits=from_logits), axis=axis)


@operation
def binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False,
                              label_smoothing=0.0, axis=-1):
    """Return the mean cross entropy of yes or no in which what is already well predicted counts less.

    Parameters
    ----------
    y_true : Any
        One for yes, zero for no.
    y_pred : Any
        The predicted probability of yes, or logits.
    apply_class_balancing : bool, optional, default=False
        Weigh yes with `alpha`, no with one minus it.
    alpha : float, optional, default=0.25
        That weight.
    gamma : float, optional, default=2.0
        How much less: the power of one minus the probability of the right answer.
    label_smoothing : float, optional, default=0.0
        How far targets are moved towards one half.
    axis : int, optional, default=-1
        What to take the mean along.

    """
    from dragon.vm.keras.ops import binary_crossentropy as cross_entropy

    y_true, y_pred = pair(y_true, y_pred, align=False)
    y_true = _smooth(y_true, label_smoothing)
    if from_logits:
        y_pred = ops.sigmoid(y_pred)
    right = y_true * y_pred + (1 - y_true) * (1 - y_pred)
    values = ops.pow(1.0 - right, gamma) * cross_entropy(y_true, y_pred, from_logits=False)
    if apply_class_balancing:
        values = (y_true * alpha + (1 - y_true) * (1 - alpha)) * values
    return ops.mean(values, axis=axis)


@operation
def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """Return (1 - p ** q) / q of the probability p of the right class: between cross entropy and absolute error.

    Parameters
    ----------
    y_pred : Any
        The predicted probability of each class.
    q : float
        Between 0 (cross entropy) and 1 (absolute error).

    """
    y_pred = convert_to_tensor(y_pred)
    chosen = ops.one_hot(convert_to_tensor(y_true, dtype="int64"), y_pred.shape[-1])
    p = ops.sum(y_pred * ops.cast(chosen, y_pred.dtype), axis=-1)
    return (1 - ops.pow(p, q)) / q


class BinaryCrossentropy(NamedLoss, function=binary_crossentropy):
    """The cross entropy of yes or no. ...

    Examples
    --------
    >>> loss = keras.losses.BinaryCrossentropy(from_logits=True)
    >>> round(float(loss(np.array([[1.0]]), np.array([[0.0]]))), 4)
    0.6931

    """


class BinaryFocalCrossentropy(NamedLoss):
    """The focal cross entropy of yes or no; arguments as `binary_focal_crossentropy` and `Loss` have them."""

    def __init__(self, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0,
                 axis=-1, reduction="sum_over_batch_size", name="binary_focal_crossentropy", dtype=None):
        super().__init__(binary_focal_crossentropy, reduction, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis, apply_class_balancing=apply_class_balancing,
                         alpha=alpha, gamma=gamma)


class CategoricalCrossentropy(NamedLoss, function=categorical_crossentropy):
    """The cross entropy of many classes, targets being one and zeros. ...

    Examples
    --------
    >>> loss = keras.losses.CategoricalCrossentropy()
    >>> round(float(loss(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))), 4)
    0.6931

    """


class CategoricalFocalCrossentropy(NamedLoss):
    """The focal cross entropy of many classes; arguments as `categorical_focal_crossentropy` and `Loss` have them."""

    def __init__(self, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1,
                 reduction="sum_over_batch_size", name="categorical_focal_crossentropy", dtype=None):
        super().__init__(categorical_focal_crossentropy, reduction, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis, alpha=alpha, gamma=gamma)


class SparseCategoricalCrossentropy(NamedLoss):
    """The cross entropy of classes by number. ...

    Examples
    --------
    >>> loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> round(float(loss(np.array([1]), np.array([[0.0, 0.0]]))), 4)
    0.6931

    """

    _left_out = "axis"

    def __init__(self, from_logits=False, ignore_class=None, reduction="sum_over_batch_size", axis=-1,
                 name="sparse_categorical_crossentropy", dtype=None):
        super().__init__(sparse_categorical_crossentropy, reduction, name, dtype, from_logits=from_logits,
                         ignore_class=ignore_class, axis=axis)


class CategoricalGeneralizedCrossEntropy(NamedLoss):
    """(1 - p ** q) / q of the right class's probability, robust against wrong labels; others as `Loss` has them."""

    def __init__(self, q=0.5, reduction="sum_over_batch_size", name="categorical_generalized_cross_entropy",
                 dtype=None):
        if not 0 < q < 1:
            raise ValueError(f"q must be in the interval (0, 1). Received: q={q}")
        super().__init__(categorical_generalized_cross_entropy, reduction, name, dtype, q=q)
