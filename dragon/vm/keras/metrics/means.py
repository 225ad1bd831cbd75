"""Means of loss functions and of correlations."""
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation
from dragon.vm.keras.losses import classification, margins, regression
from dragon.vm.keras.losses.regression import pair
from dragon.vm.keras.metrics.reduction import Mean, NamedMetric
from dragon.vm.shared.tensors.tensor import ops


def cosine_similarity(y_true, y_pred, axis=-1):
    """Return the cosine of the angle between targets and predictions along an axis."""
    return -margins.cosine_similarity(y_true, y_pred, axis=axis)


@operation
def pearson_correlation(y_true, y_pred, axis=-1):
    """Return Pearson's correlation of targets and predictions along an axis."""
    y_true, y_pred = (x - ops.mean(x, axis=axis, keepdims=True) for x in pair(y_true, y_pred))
    y_true, y_pred = (x / ops.std(x, axis=axis, correction=0, keepdims=True) for x in (y_true, y_pred))
    return ops.mean(y_true * y_pred, axis=axis)


@operation
def concordance_correlation(y_true, y_pred, axis=-1):
    """Return Lin's concordance of targets and predictions along an axis."""
    y_true, y_pred = pair(y_true, y_pred)
    true_mean, pred_mean = (ops.mean(x, axis=axis, keepdims=True) for x in (y_true, y_pred))
    spread = sum(ops.var(x, axis=axis, correction=0, keepdims=True) for x in (y_true, y_pred))
    together = (y_true - pred_mean) * (y_pred - pred_mean)
    return ops.mean(2 * together / (spread + ops.square(true_mean - pred_mean) + epsilon()), axis=axis)


class MeanSquaredError(NamedMetric, function=regression.mean_squared_error):
    """The mean square of the difference; arguments as `Mean` has them."""


class MeanAbsoluteError(NamedMetric, function=regression.mean_absolute_error):
    """The mean magnitude of the difference. ...

    Examples
    --------
    >>> metric = keras.metrics.MeanAbsoluteError()
    >>> metric.update_state([1.0, 2.0], [1.0, 4.0])
    >>> float(metric.result())
    1.0

    """


class MeanAbsolutePercentageError(NamedMetric, function=regression.mean_absolute_percentage_error):
    """The mean magnitude of the difference in percent of the target; arguments as `Mean` has them."""


class MeanSquaredLogarithmicError(NamedMetric, function=regression.mean_squared_logarithmic_error):
    """The mean square of the difference of log(1 + value); arguments as `Mean` has them."""


class RootMeanSquaredError(Mean):
    """The root of the mean square of the difference; arguments as `Mean` has them."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype=dtype)
        self._direction = "down"

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add the squares of a batch."""
        y_true, y_pred = pair(y_true, convert_to_tensor(y_pred, dtype=self.dtype))
        return super().update_state(ops.square(y_pred - y_true), sample_weight=sample_weight)

    def result(self):
        """Return the root of the mean."""
        return ops.sqrt(super().result())


class CosineSimilarity(NamedMetric, function=cosine_similarity, direction="up", _left_out="axis"):
    """The cosine of the angle between vectors along `axis`; the other arguments as `Mean` has them."""


class LogCoshError(NamedMetric, function=regression.log_cosh, name="logcosh"):
    """The logarithm of the difference's hyperbolic cosine; arguments as `Mean` has them."""


class Hinge(NamedMetric, function=margins.hinge):
    """What misses a margin of one; arguments as `Mean` has them."""


class SquaredHinge(NamedMetric, function=margins.squared_hinge):
    """The square of what misses a margin of one; arguments as `Mean` has them."""


class CategoricalHinge(NamedMetric, function=margins.categorical_hinge):
    """How much the best wrong class comes within one of the right class; arguments as `Mean` has them."""


class KLDivergence(NamedMetric, function=regression.kl_divergence):
    """The divergence of predicted distributions from true ones; arguments as `Mean` has them."""


class Poisson(NamedMetric, function=regression.poisson):
    """Prediction - target * log(prediction); arguments as `Mean` has them."""


class BinaryCrossentropy(NamedMetric):
    """The cross entropy of yes or no; arguments as the loss of that name and `Mean` have them."""

    def __init__(self, name="binary_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        super().__init__(classification.binary_crossentropy, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class CategoricalCrossentropy(NamedMetric):
    """The cross entropy of many classes; arguments as the loss of that name and `Mean` have them."""

    def __init__(self, name="categorical_crossentropy", dtype=None, from_logits=False, label_smoothing=0, axis=-1):
        super().__init__(classification.categorical_crossentropy, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing, axis=axis)


class SparseCategoricalCrossentropy(NamedMetric, function=classification.sparse_categorical_crossentropy):
    """The cross entropy of classes by number; arguments as the loss of that name and `Mean` have them."""


class PearsonCorrelation(NamedMetric, function=pearson_correlation, direction="up"):
    """Pearson's correlation along `axis`; the other arguments as `Mean` has them."""


class ConcordanceCorrelation(NamedMetric, function=concordance_correlation, direction="up"):
    """Lin's concordance along `axis`; the other arguments as `Mean` has them."""
