"""The area under a curve of two shares of right and wrong predictions."""
from enum import Enum

from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.losses.loss import divide_no_nan
from dragon.vm.keras.metrics import counting
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.shared.tensors.tensor import ops


class AUCCurve(Enum):
    """Which curve."""

    ROC = "ROC"
    PR = "PR"
    PRGAIN = "PRGAIN"


class AUCSummationMethod(Enum):
    """How the area between two thresholds is taken."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"


def _choice(kind, title, value):
    """Return the member of an Enum that a word means, in small letters or as it is written."""
    if isinstance(value, kind):
        return value
    for member in kind:
        if value in (member.value, member.value.lower(), member.value.capitalize() if kind is not AUCCurve else None):
            return member
    raise ValueError(f'Invalid {title} value: "{value}". Expected values are {[member.value for member in kind]}')


class AUC(Metric):
    """The area under the curve of two shares over thresholds.

    Parameters
    ----------
    num_thresholds : int, optional, default=200
        How many thresholds.
    curve : str, optional, default="ROC"
        "ROC" (recall over the rate of false yes), "PR" (precision over recall) or "PRGAIN" (their gains).
    summation_method : str, optional, default="interpolation"
        "interpolation", "minoring" or "majoring".
    thresholds : Optional[Sequence[float]], optional
        The thresholds, in place of a number of them.
    multi_label : bool, optional, default=False
        The area of each label, then their mean.
    num_labels : Optional[int], optional
        How many labels there are.

    Examples
    --------
    >>> metric = keras.metrics.AUC()
    >>> metric.update_state([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    >>> float(metric.result())
    1.0

    """

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="interpolation", name=None, dtype=None,
                 thresholds=None, multi_label=False, num_labels=None, label_weights=None, from_logits=False):
        self._direction = "up"
        self._init_from_thresholds = thresholds is not None
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError("Argument `num_thresholds` must be an integer > 1. "
                                 f"Received: num_thresholds={num_thresholds}")
            inner = counting.even_thresholds(num_thresholds)[1:-1]
        else:
            inner = sorted(thresholds)
        self.num_thresholds = len(inner) + 2
        self._even = thresholds is None or counting.is_even([0.0, *inner, 1.0])
        # The outer ones lie beyond, so that all predictions are above the first, none above the last.
        self._thresholds = [0.0 - epsilon(), *inner, 1.0 + epsilon()]
        self.curve = _choice(AUCCurve, "AUC curve", curve)
        self.summation_method = _choice(AUCSummationMethod, "AUC summation method", summation_method)
        super().__init__(name=name, dtype=dtype)
        self.multi_label, self.num_labels = multi_label, num_labels
        self.label_weights = None if label_weights is None else convert_to_tensor(label_weights, dtype=self.dtype)
        self._from_logits = from_logits
        self._built = False
        if num_labels and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True. "
                             f"Received: num_labels={num_labels}")
        if num_labels or not multi_label:
            self._build((None, num_labels))

    thresholds = property(lambda self: list(self._thresholds), doc="All thresholds, the outer ones among them.")

    def _build(self, shape):
        if self.multi_label and len(shape) != 2:
            raise ValueError(f"`y_pred` must have rank 2 when `multi_label=True`. Found rank {len(shape)}. "
                             f"Full shape received for `y_pred`: {tuple(shape)}")
        shape = (self.num_thresholds, shape[1]) if self.multi_label else (self.num_thresholds,)
        self._counted = {}
        for name in (counting.TRUE_POSITIVES, counting.FALSE_POSITIVES, counting.TRUE_NEGATIVES,
                     counting.FALSE_NEGATIVES):
            self._counted[name] = self.add_variable(shape=shape, initializer="zeros", name=name)
            setattr(self, name, self._counted[name])
        self._built = True

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count what a batch has right and wrong at all thresholds."""
        y_pred = convert_to_tensor(y_pred)
        if not self._built:
            self._build(tuple(y_pred.shape))
        if self._from_logits:
            y_pred = ops.sigmoid(y_pred)
        counting.update_counts(self._counted, y_true, y_pred, self._thresholds, self._even,
                               sample_weight=sample_weight, multi_label=self.multi_label,
                               label_weights=None if self.multi_label else self.label_weights)

    def result(self):
        """Return the area."""
        self._check_updated()
        tp, fp, tn, fn = (convert_to_tensor(variable) for variable in self._counted.values())
        interpolated = self.summation_method is AUCSummationMethod.INTERPOLATION
        if self.curve is AUCCurve.PR and interpolated:
            return self._mean(_precision_recall_area(tp, fp, fn))
        x, y = self._axes(tp, fp, tn, fn)
        left, right = _ends(y)
        if interpolated:
            heights = (left + right) / 2.0
        else:
            bound = ops.minimum if self.summation_method is AUCSummationMethod.MINORING else ops.maximum
            heights = bound(left, right)
        return self._mean(_drops(x) * heights)

    def _axes(self, tp, fp, tn, fn):
        recall = divide_no_nan(tp, tp + fn)
        if self.curve is AUCCurve.ROC:
            return divide_no_nan(fp, fp + tn), recall
        if self.curve is AUCCurve.PR:
            return recall, divide_no_nan(tp, tp + fp)
        scale = divide_no_nan(tp + fn, tn + fp)
        recall_gain, precision_gain = (1.0 - scale * divide_no_nan(wrong, tp) for wrong in (fn, fp))
        # Without any true positive there is no gain of recall, and nothing wrong with precision.
        return (ops.maximum(ops.where(tp == 0.0, 0.0, recall_gain), 0.0), ops.where(tp == 0.0, 1.0, precision_gain))

    def _mean(self, areas):
        """Return the sum over thresholds, and the mean over labels."""
        if not self.multi_label:
            return ops.sum(areas)
        areas = ops.sum(areas, axis=0)
        if self.label_weights is None:
            return ops.mean(areas)
        return divide_no_nan(ops.sum(areas * self.label_weights), ops.sum(self.label_weights))

    def reset_state(self):
        """Set all counts to zero."""
        if self._built:
            super().reset_state()

    def get_config(self):
        config = {"num_thresholds": self.num_thresholds, "curve": self.curve.value,
                  "summation_method": self.summation_method.value, "multi_label": self.multi_label,
                  "num_labels": self.num_labels, "label_weights": self.label_weights,
                  "from_logits": self._from_logits}
        if self._init_from_thresholds:
            config["thresholds"] = self.thresholds[1:-1]
        return {**super().get_config(), **config}


def _ends(x):
    """Return the values at the beginning and at the end of each step between thresholds."""
    steps = x.shape[0] - 1
    return ops.narrow(x, 0, 0, steps), ops.narrow(x, 0, 1, steps)


def _drops(x):
    left, right = _ends(x)
    return left - right


def _precision_recall_area(tp, fp, fn):
    """Return the area of each step, interpolated as Davis and Goadrich (2006) have it: by counts, not by shares."""
    predicted = tp + fp
    first, last = _ends(predicted)
    (_, tp_last), (_, fn_last) = _ends(tp), _ends(fn)
    slope = divide_no_nan(_drops(tp), ops.maximum(first - last, 0))
    intercept = tp_last - slope * last
    both = ops.logical_and(first > 0, last > 0)
    ratio = ops.where(both, divide_no_nan(first, ops.maximum(last, 0)), 1)
    return divide_no_nan(slope * (_drops(tp) + intercept * ops.log(ratio)), ops.maximum(tp_last + fn_last, 0))
