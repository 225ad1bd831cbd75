"""Metrics made of counts of right and wrong predictions of yes and no."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.losses.loss import divide_no_nan
from dragon.vm.keras.metrics import counting
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.shared.tensors.tensor import ops


class Counts(Metric):
    """Base of what counts over thresholds.

    Parameters
    ----------
    counted : Sequence[str]
        What is counted: the names of variables.
    thresholds : Sequence[float]
        What predictions of yes are above.
    even : bool
        The thresholds divide [0, 1] evenly.
    name : str, optional
        What it is called in logs.
    dtype : str, optional
        What it computes in.

    """

    top_k = class_id = None

    def _count(self, counted, thresholds, even):
        self.thresholds = thresholds
        self._even = even
        self._counted = {name: self.add_variable(shape=(len(thresholds),), initializer="zeros", name=name)
                         for name in counted}
        for name, variable in self._counted.items():
            setattr(self, name, variable)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count what a batch has right and wrong."""
        counting.update_counts(self._counted, y_true, y_pred, self.thresholds, self._even, self.top_k, self.class_id,
                               sample_weight)

    def _share(self, name, other):
        """Return what share of two counts the first is."""
        count = convert_to_tensor(self._counted[name])
        return divide_no_nan(count, count + self._counted[other])


class ConditionCount(Counts):
    """One of the four counts. ..."""

    counts = None

    _arguments = "thresholds=init_thresholds"

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = counting.parse_thresholds(thresholds)
        self._even = counting.is_even(self.thresholds)
        self.accumulator = self.add_variable(shape=(len(self.thresholds),), initializer="zeros", name="accumulator")
        self._counted = {self.counts: self.accumulator}

    def result(self):
        """Return the count: one number for one threshold."""
        count = convert_to_tensor(self.accumulator)
        return ops.select(count, 0, 0) if len(self.thresholds) == 1 else ops.clone(count)


class FalsePositives(ConditionCount, counts=counting.FALSE_POSITIVES):
    """How often yes was predicted of no; arguments as `TruePositives` has them."""


class FalseNegatives(ConditionCount, counts=counting.FALSE_NEGATIVES):
    """How often no was predicted of yes; arguments as `TruePositives` has them."""


class TrueNegatives(ConditionCount, counts=counting.TRUE_NEGATIVES):
    """How often no was predicted of no; arguments as `TruePositives` has them."""


class TruePositives(ConditionCount, counts=counting.TRUE_POSITIVES):
    """How often yes was predicted of yes: `thresholds` (0.5 by default), `name` and `dtype` are its arguments."""


class PositiveShare(Counts):
    """Base of precision and recall. ..."""

    wrong = None

    _arguments = "thresholds=init_thresholds ..."

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._direction = "up"
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        limits = counting.parse_thresholds(thresholds, 0.5 if top_k is None else counting.NEVER)
        self._count((counting.TRUE_POSITIVES, self.wrong), limits, counting.is_even(limits))

    def result(self):
        """Return the share: one number for one threshold."""
        share = self._share(counting.TRUE_POSITIVES, self.wrong)
        return ops.select(share, 0, 0) if len(self.thresholds) == 1 else share


class Precision(PositiveShare, wrong=counting.FALSE_POSITIVES):
    """The share of true yes among predictions of yes. ...

    Examples
    --------
    >>> metric = keras.metrics.Precision()
    >>> metric.update_state([0, 1, 1, 1], [1, 0, 1, 0])
    >>> float(metric.result())
    0.5

    """


class Recall(PositiveShare, wrong=counting.FALSE_NEGATIVES):
    """The share of predictions of yes among true yes. ...

    Examples
    --------
    >>> metric = keras.metrics.Recall()
    >>> metric.update_state([0, 1, 1, 1, 1], [1, 0, 1, 0, 0])
    >>> float(metric.result())
    0.25

    """


SHARES = {"sensitivity": (counting.TRUE_POSITIVES, counting.FALSE_NEGATIVES),
          "specificity": (counting.TRUE_NEGATIVES, counting.FALSE_POSITIVES),
          "precision": (counting.TRUE_POSITIVES, counting.FALSE_POSITIVES)}
SHARES["recall"] = SHARES["sensitivity"]


class ShareUnderConstraint(Counts):
    """Base of the best share of one kind among thresholds at which another share is at least a value.

    Parameters
    ----------
    value : float
        What the other share is at least.
    num_thresholds : int, optional, default=200
        How many thresholds are tried.

    """

    wanted = given = None  # names of shares

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        if value < 0 or value > 1:
            raise ValueError(f"Argument `{self.given}` must be in the range [0, 1]. Received: {self.given}={value}")
        super().__init__(name=name, dtype=dtype)
        self._direction = "up"
        if num_thresholds <= 0:
            raise ValueError("Argument `num_thresholds` must be an integer > 0. "
                             f"Received: num_thresholds={num_thresholds}")
        self.value, self.num_thresholds, self.class_id = value, num_thresholds, class_id
        setattr(self, self.given, value)
        self._count((counting.TRUE_POSITIVES, counting.FALSE_POSITIVES, counting.TRUE_NEGATIVES,
                     counting.FALSE_NEGATIVES),
                    counting.even_thresholds(num_thresholds) if num_thresholds > 1 else [0.5], num_thresholds > 1)

    def result(self):
        """Return the best share, or zero."""
        given, wanted = self._share(*SHARES[self.given]), self._share(*SHARES[self.wanted])
        return ops.amax(ops.where(given >= self.value, wanted, 0))

    def get_config(self):
        return {**super().get_config(), "class_id": self.class_id, "num_thresholds": self.num_thresholds,
                self.given: self.value}


class SensitivityAtSpecificity(ShareUnderConstraint):
    """The best sensitivity where specificity is at least a value; the other arguments as `AUC` has them."""

    wanted, given = "sensitivity", "specificity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)


class SpecificityAtSensitivity(ShareUnderConstraint):
    """The best specificity where sensitivity is at least a value; the other arguments as `AUC` has them."""

    wanted, given = "specificity", "sensitivity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)


class PrecisionAtRecall(ShareUnderConstraint):
    """The best precision where recall is at least a value; the other arguments as `AUC` has them."""

    wanted, given = "precision", "recall"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)


class RecallAtPrecision(ShareUnderConstraint):
    """The best recall where precision is at least a value; the other arguments as `AUC` has them."""

    wanted, given = "recall", "precision"

    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name, dtype)
