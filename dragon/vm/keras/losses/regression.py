"""Losses about the distance between numbers."""
import math

from dragon.vm.keras.core.config import epsilon, floatx
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import is_float_dtype
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses.loss import squeeze_or_expand_to_same_rank
from dragon.vm.keras.losses.wrapper import NamedLoss
from dragon.vm.shared.tensors.tensor import ops


def pair(y_true, y_pred, align=True):
    """Return targets and predictions as tensors of the predictions' dtype, a float, and of one rank where `align`."""
    y_pred = convert_to_tensor(y_pred)
    if not is_float_dtype(y_pred.dtype):
        y_pred = convert_to_tensor(y_pred, dtype=floatx())
    y_true = convert_to_tensor(y_true, dtype=y_pred.dtype)
    return squeeze_or_expand_to_same_rank(y_true, y_pred) if align else (y_true, y_pred)


@operation
def mean_squared_error(y_true, y_pred):
    """Return the mean square of the difference, along the last axis."""
    y_true, y_pred = pair(y_true, y_pred)
    return ops.mean(ops.square(y_true - y_pred), axis=-1)


@operation
def mean_absolute_error(y_true, y_pred):
    """Return the mean magnitude of the difference, along the last axis."""
    y_true, y_pred = pair(y_true, y_pred)
    return ops.mean(ops.abs(y_true - y_pred), axis=-1)


@operation
def mean_absolute_percentage_error(y_true, y_pred):
    """Return the mean magnitude of the difference in percent of the target, along the last axis."""
    y_true, y_pred = pair(y_true, y_pred)
    return 100.0 * ops.mean(ops.abs((y_true - y_pred) / ops.maximum(ops.abs(y_true), epsilon())), axis=-1)


@operation
def mean_squared_logarithmic_error(y_true, y_pred):
    """Return the mean square of the difference of log(1 + value), along the last axis."""
    y_true, y_pred = pair(y_true, y_pred)
    first, second = (ops.log(ops.maximum(x, epsilon()) + 1.0) for x in (y_pred, y_true))
    return ops.mean(ops.square(first - second), axis=-1)


@operation
def huber(y_true, y_pred, delta=1.0):
    """Return the mean, along the last axis, of half the square near zero and of a line beyond `delta`.

    Parameters
    ----------
    y_true : Any
        The targets.
    y_pred : Any
        The predictions.
    delta : float, optional, default=1.0
        Where the line begins.

    """
    y_true, y_pred = pair(y_true, y_pred)
    error = y_pred - y_true
    size = ops.abs(error)
    return ops.mean(ops.where(size <= delta, 0.5 * ops.square(error), delta * size - 0.5 * delta * delta), axis=-1)


@operation
def log_cosh(y_true, y_pred):
    """Return the mean, along the last axis, of the logarithm of the difference's hyperbolic cosine."""
    y_true, y_pred = pair(y_true, y_pred)
    error = y_pred - y_true
    return ops.mean(error + ops.softplus(error * -2.0) - math.log(2.0), axis=-1)


@operation
def kl_divergence(y_true, y_pred):
    """Return the divergence of the predicted distribution from the true one, along the last axis."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    y_true, y_pred = ops.clamp(y_true, epsilon(), 1), ops.clamp(y_pred, epsilon(), 1)
    return ops.sum(y_true * ops.log(y_true / y_pred), axis=-1)


@operation
def poisson(y_true, y_pred):
    """Return the mean, along the last axis, of prediction - target * log(prediction)."""
    y_true, y_pred = pair(y_true, y_pred, align=False)
    return ops.mean(y_pred - y_true * ops.log(y_pred + epsilon()), axis=-1)


class MeanSquaredError(NamedLoss, function=mean_squared_error):
    """The mean square of the difference between targets and predictions. ...

    Examples
    --------
    >>> loss = keras.losses.MeanSquaredError()
    >>> float(loss(np.array([[1.0], [2.0]]), np.array([[1.0], [4.0]])))
    2.0

    """


class MeanAbsoluteError(NamedLoss, function=mean_absolute_error):
    """The mean magnitude of the difference between targets and predictions. ...

    Examples
    --------
    >>> loss = keras.losses.MeanAbsoluteError()
    >>> float(loss(np.array([[1.0], [2.0]]), np.array([[1.0], [4.0]])))
    1.0

    """


class MeanAbsolutePercentageError(NamedLoss, function=mean_absolute_percentage_error):
    """The mean magnitude of the difference in percent of the targets; arguments as `Loss` has them."""


class MeanSquaredLogarithmicError(NamedLoss, function=mean_squared_logarithmic_error):
    """The mean square of the difference of log(1 + value); arguments as `Loss` has them."""


class Huber(NamedLoss, function=huber, name="huber_loss", _left_out="delta"):
    """Half the square of small differences, a line beyond `delta`.

    Parameters
    ----------
    delta : float, optional, default=1.0
        Where the square ends and the line begins.

    Examples
    --------
    >>> loss = keras.losses.Huber(delta=1.0)
    >>> float(loss(np.array([[0.0]]), np.array([[3.0]])))
    2.5

    """


class LogCosh(NamedLoss, function=log_cosh):
    """The logarithm of the difference's hyperbolic cosine; arguments as `Loss` has them."""


class KLDivergence(NamedLoss, function=kl_divergence):
    """The divergence of predicted distributions from true ones. ...

    Examples
    --------
    >>> loss = keras.losses.KLDivergence()
    >>> round(float(loss(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))), 4)
    0.6931

    """


class Poisson(NamedLoss, function=poisson):
    """Prediction - target * log(prediction), for counts; arguments as `Loss` has them."""
