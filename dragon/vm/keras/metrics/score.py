"""The coefficient of determination, and F scores."""

from dragon.core import warnings
from dragon.core.capture.settings import is_capturing
from dragon.vm.keras.core.batch_size import count_samples
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.losses.regression import pair
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.shared.tensors.tensor import ops


def _check_matrices(who, y_true, y_pred):
    """Refuse shapes that are not two matrices'; return the count of columns."""
    y_true, y_pred = tuple(y_true), tuple(y_pred)
    told = f"y_pred.shape={y_pred} and y_true.shape={y_true}."
    if len(y_pred) != 2 or len(y_true) != 2:
        raise ValueError(f"{who} expects 2D inputs with shape (batch_size, output_dim). Received input shapes: {told}")
    if y_pred[-1] is None or y_true[-1] is None:
        raise ValueError(f"{who} expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined "
                         f"(not None). Received input shapes: {told}")
    return y_pred[-1]


class R2Score(Metric):
    """How much of the targets' variance the predictions explain.

    Parameters
    ----------
    class_aggregation : Optional[str], optional, default="uniform_average"
        "uniform_average", "variance_weighted_average", or None for a score of each column.
    num_regressors : int, optional, default=0
        How many variables the predictions are made of, for the adjusted score; 0 for the plain one.

    """

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._direction = "up"
        allowed = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in allowed:
            raise ValueError(f"Invalid value for argument `class_aggregation`. Expected one of {allowed}. "
                             f"Received: class_aggregation={class_aggregation}")
        if num_regressors < 0:
            raise ValueError("Invalid value for argument `num_regressors`. Expected a value >= 0. "
                             f"Received: num_regressors={num_regressors}")
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_variable(shape=(), initializer="zeros", name="num_samples")
        self._built = False

    def _build(self, y_true_shape, y_pred_shape):
        shape = (_check_matrices("R2Score", y_true_shape, y_pred_shape),)
        for attribute, name in (("squared_sum", None), ("sum", None), ("total_mse", "residual"), ("count", None)):
            setattr(self, attribute, self.add_variable(name=name or attribute, shape=shape, initializer="zeros"))
        self._built = True

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Gather the squares of a batch."""
        y_true, y_pred = pair(y_true, convert_to_tensor(y_pred, dtype=self.dtype))
        if not self._built:
            self._build(y_true.shape, y_pred.shape)
        weight = convert_to_tensor(1 if sample_weight is None else sample_weight, dtype=self.dtype)
        if len(weight.shape) == 1:
            weight = ops.unsqueeze(weight, 1)
        weight = ops.broadcast_to(weight, tuple(y_true.shape))
        self.sum.assign_add(ops.sum(y_true * weight, axis=0))
        self.squared_sum.assign_add(ops.sum(y_true * y_true * weight, axis=0))
        self.total_mse.assign_add(ops.sum(ops.square(y_true - y_pred) * weight, axis=0))
        self.count.assign_add(ops.sum(weight, axis=0))
        self.num_samples.assign_add(count_samples(y_true) * y_true.shape[1])

    def result(self):
        """Return the score."""
        self._check_updated()
        total = self.squared_sum - self.sum * (self.sum / self.count)
        scores = 1 - self.total_mse / total
        scores = ops.where(ops.isinf(scores), 0.0, scores)
        if self.class_aggregation == "uniform_average":
            scores = ops.mean(scores)
        elif self.class_aggregation == "variance_weighted_average":
            scores = ops.sum(total * scores) / ops.sum(total)
        return self._adjusted(scores) if self.num_regressors else scores

    def _adjusted(self, score):
        """Return the score less what so many regressors explain by chance, where there are enough samples."""
        samples = convert_to_tensor(self.num_samples)
        freedom = samples - self.num_regressors - 1.0
        if not is_capturing() and float(freedom) <= 0:
            trouble = ("More independent predictors than datapoints in adjusted R2 score"
                       if float(freedom) < 0 else "Division by zero in Adjusted R2 score")
            warnings.warn(f"{trouble}. Falling back to standard R2 score.")
        safe = ops.where(freedom > 0, freedom, 1.0)
        return ops.where(freedom > 0, 1.0 - (1.0 - score) * (samples - 1.0) / safe, score)


class FBetaScore(Metric):
    """The weighted harmonic mean of precision and recall.

    Parameters
    ----------
    average : Optional[str], optional
        How classes become one: "micro", "macro", "weighted", or None for a score of each.
    beta : float, optional, default=1.0
        How much more recall counts.
    threshold : Optional[float], optional
        What predictions of yes are above; by default, the largest prediction is the class.

    """

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._direction = "up"
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError("Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
                             f"Received: average={average}")
        if not isinstance(beta, float):
            raise ValueError("Invalid `beta` argument value. It should be a Python float. "
                             f"Received: beta={beta} of type '{type(beta)}'")
        if beta <= 0.0:
            raise ValueError(f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}")
        if threshold is not None and not isinstance(threshold, float):
            raise ValueError("Invalid `threshold` argument value. It should be a Python float. "
                             f"Received: threshold={threshold} of type '{type(threshold)}'")
        if threshold is not None and not 0.0 < threshold <= 1.0:
            raise ValueError("Invalid `threshold` argument value. It should verify 0 < threshold <= 1. "
                             f"Received: threshold={threshold}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self.axis = None if average == "micro" else 0
        self._built = False

    def _build(self, y_true_shape, y_pred_shape):
        columns = _check_matrices("FBetaScore", y_true_shape, y_pred_shape)
        shape = () if self.average == "micro" else (columns,)
        for name in ("true_positives", "false_positives", "false_negatives", "intermediate_weights"):
            setattr(self, name, self.add_variable(name=name, shape=shape, initializer="zeros", dtype=self.dtype))
        self._built = True

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count what a batch has right and wrong."""
        y_true, y_pred = (convert_to_tensor(x, dtype=self.dtype) for x in (y_true, y_pred))
        if not self._built:
            self._build(y_true.shape, y_pred.shape)
        if self.threshold is None:
            largest = y_pred >= ops.amax(y_pred, axis=-1, keepdims=True)
            chosen = ops.logical_and(largest, ops.abs(y_pred) > 1e-9)  # a row of zeros chooses nothing
        else:
            chosen = y_pred > self.threshold
        chosen = ops.cast(chosen, self.dtype)
        weight = None if sample_weight is None else ops.unsqueeze(convert_to_tensor(sample_weight, self.dtype), 1)

        def count(values):
            return ops.sum(values if weight is None else values * weight, axis=self.axis)

        self.true_positives.assign_add(count(chosen * y_true))
        self.false_positives.assign_add(count(chosen * (1 - y_true)))
        self.false_negatives.assign_add(count((1 - chosen) * y_true))
        self.intermediate_weights.assign_add(count(y_true))

    def result(self):
        """Return the score."""
        self._check_updated()
        right = convert_to_tensor(self.true_positives)
        precision = right / (right + self.false_positives + epsilon())
        recall = right / (right + self.false_negatives + epsilon())
        square = self.beta ** 2
        score = precision * recall / (square * precision + recall + epsilon()) * (1 + square)
        if self.average == "weighted":
            weights = convert_to_tensor(self.intermediate_weights)
            return ops.sum(score * (weights / (ops.sum(weights) + epsilon())))
        return score if self.average is None else ops.mean(score)


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall; arguments as `FBetaScore` has them."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average=average, beta=1.0, threshold=threshold, name=name, dtype=dtype)
