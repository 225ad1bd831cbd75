"""Metrics against genuine Keras: results and states over several batches, weights, configurations, errors."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm.keras import metrics
from dragon.vm.keras.core.convert import convert_to_tensor

RNG = np.random.default_rng(0)


def chances(rows=6, columns=5):
    """Return distributions."""
    x = RNG.random((rows, columns)).astype("float32") + 0.05
    return x / x.sum(-1, keepdims=True)


def chosen(rows=6, columns=5):
    """Return targets of one and zeros."""
    return np.eye(columns, dtype="float32")[RNG.integers(0, columns, rows)]


def yes(*shape):
    """Return targets of yes and no."""
    return RNG.integers(0, 2, shape).astype("float32")


def numbers(*shape, classes=5):
    """Return numbers of classes."""
    return RNG.integers(0, classes, shape)


def real(*shape):
    """Return numbers."""
    return RNG.normal(size=shape).astype("float32")


def uniform(*shape):
    """Return numbers between zero and one."""
    return RNG.random(shape).astype("float32")


CLASSES = (chosen, chances)
NUMBERED = (lambda: numbers(6), chances)
BINARY = (lambda: yes(6, 3), lambda: uniform(6, 3))
FLAT = (lambda: yes(6), lambda: uniform(6))
REAL = (lambda: real(6, 3), lambda: real(6, 3))
POSITIVE = (lambda: uniform(6, 3), lambda: uniform(6, 3))
AREAS = (lambda: numbers(2, 6, classes=3), lambda: numbers(2, 6, classes=3))
HOT = (lambda: chosen(6, 3), lambda: chances(6, 3))

# class, arguments, what makes targets and predictions, whether weights of samples fit
ROWS = [
    ("Accuracy", {}, (lambda: numbers(6, 1), lambda: numbers(6, 1)), True),
    ("BinaryAccuracy", {}, BINARY, True),
    ("BinaryAccuracy", {"threshold": 0.7}, FLAT, True),
    ("CategoricalAccuracy", {}, CLASSES, True),
    ("SparseCategoricalAccuracy", {}, NUMBERED, True),
    ("SparseCategoricalAccuracy", {}, (lambda: numbers(6, 1), chances), True),
    ("TopKCategoricalAccuracy", {"k": 2}, CLASSES, True),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, NUMBERED, True),
    ("SparseTopKCategoricalAccuracy", {"k": 2, "from_sorted_ids": True}, (lambda: numbers(6), lambda: numbers(6, 4)),
     True),
    ("MeanSquaredError", {}, REAL, True), ("MeanAbsoluteError", {}, REAL, True),
    ("MeanAbsolutePercentageError", {}, REAL, True), ("MeanSquaredLogarithmicError", {}, POSITIVE, True),
    ("RootMeanSquaredError", {}, REAL, True), ("CosineSimilarity", {}, REAL, True),
    ("CosineSimilarity", {"axis": 1}, REAL, True), ("LogCoshError", {}, REAL, True),
    ("Hinge", {}, (lambda: yes(6, 3), lambda: real(6, 3)), True),
    ("SquaredHinge", {}, (lambda: yes(6, 3), lambda: real(6, 3)), True),
    ("CategoricalHinge", {}, (chosen, lambda: real(6, 5)), True),
    ("KLDivergence", {}, CLASSES, True), ("Poisson", {}, POSITIVE, True),
    ("BinaryCrossentropy", {"label_smoothing": 0.1}, BINARY, True),
    ("BinaryCrossentropy", {"from_logits": True}, (lambda: yes(6, 3), lambda: real(6, 3)), True),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, CLASSES, True),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, (lambda: numbers(6), lambda: real(6, 5)), True),
    ("SparseCategoricalCrossentropy", {"ignore_class": 2}, NUMBERED, True),
    ("PearsonCorrelation", {}, REAL, True), ("ConcordanceCorrelation", {"axis": -1}, REAL, True),
    ("R2Score", {}, REAL, True), ("R2Score", {"class_aggregation": None}, REAL, True),
    ("R2Score", {"class_aggregation": "variance_weighted_average", "num_regressors": 2}, REAL, False),
    ("FBetaScore", {"beta": 2.0}, CLASSES, True), ("FBetaScore", {"average": "weighted"}, CLASSES, True),
    ("F1Score", {"average": "micro", "threshold": 0.5}, BINARY, True), ("F1Score", {"average": "macro"}, CLASSES, True),
    ("FalsePositives", {}, BINARY, True), ("FalseNegatives", {"thresholds": [0.2, 0.8]}, BINARY, True),
    ("TrueNegatives", {"thresholds": 0.4}, FLAT, True), ("TruePositives", {"thresholds": [0.0, 0.5, 1.0]}, FLAT, True),
    ("Precision", {}, BINARY, True), ("Precision", {"top_k": 2}, BINARY, False),
    ("Precision", {"thresholds": [0.0, 0.25, 0.5, 0.75, 1.0]}, FLAT, True),
    ("Recall", {"class_id": 1}, BINARY, False), ("Recall", {"top_k": 1, "class_id": 2}, BINARY, False),
    ("SensitivityAtSpecificity", {"specificity": 0.5}, FLAT, True),
    ("SpecificityAtSensitivity", {"sensitivity": 0.5, "num_thresholds": 30}, FLAT, True),
    ("PrecisionAtRecall", {"recall": 0.5}, FLAT, True), ("RecallAtPrecision", {"precision": 0.5}, FLAT, True),
    ("RecallAtPrecision", {"precision": 0.5, "num_thresholds": 1}, FLAT, True),
    ("AUC", {}, FLAT, True), ("AUC", {"curve": "PR"}, FLAT, True), ("AUC", {"curve": "PRGAIN"}, FLAT, True),
    ("AUC", {"curve": "PR", "summation_method": "majoring", "num_thresholds": 20}, FLAT, True),
    ("AUC", {"summation_method": "minoring", "thresholds": [0.1, 0.3, 0.6]}, FLAT, True),
    ("AUC", {"multi_label": True, "num_labels": 3}, BINARY, True),
    ("AUC", {"multi_label": True, "label_weights": [0.2, 0.3, 0.5]}, BINARY, True),
    ("AUC", {"multi_label": True, "curve": "PR", "thresholds": [0.1, 0.3, 0.6]}, BINARY, True),
    ("AUC", {"from_logits": True}, (lambda: yes(6), lambda: real(6)), True),
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 2]}, AREAS, False),
    ("IoU", {"num_classes": 3, "target_class_ids": [0], "ignore_class": 1, "dtype": "float32"}, AREAS, False),
    ("BinaryIoU", {"threshold": 0.4}, BINARY, False), ("MeanIoU", {"num_classes": 3}, AREAS, False),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [1, 2]}, HOT, False),
    ("OneHotMeanIoU", {"num_classes": 3}, HOT, False),
]
IDS = [f"{name}-{index}" for index, (name, *_) in enumerate(ROWS)]
RESULTS = [(*row[:3], weighted) for row in ROWS for weighted in ([False, True] if row[3] else [False])]
RESULT_IDS = [f"{row[0]}-{index}-{'weighted' if row[3] else 'plain'}" for index, row in enumerate(RESULTS)]


def both(name, arguments):
    """Return our metric and the genuine one."""
    return getattr(metrics, name)(**arguments), getattr(genuine.keras.metrics, name)(**arguments)


def compare(ours, theirs, rtol=2e-5, atol=2e-6):
    """Check that two results have the same shape and numbers."""
    ours, theirs = (np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in (ours, theirs))
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@each("name, arguments, made, weighted", RESULTS, ids=RESULT_IDS, size=30)
def test_results(name, arguments, made, weighted):
    """Three batches, a reset, another batch; the variables all the way."""
    ours, theirs = both(name, arguments)
    for batch in range(4):
        y_true, y_pred = (make() for make in made)
        weight = uniform(6) if weighted else None
        theirs.update_state(y_true, y_pred, sample_weight=weight)
        ours.update_state(y_true, y_pred, sample_weight=weight)
        compare(ours.result(), theirs.result())
        assert len(ours.variables) == len(theirs.variables)
        for own, other in zip(ours.variables, theirs.variables):
            assert (own.name, own.dtype) == (other.name, other.dtype)
            assert own.path.split("/")[1:] == other.path.split("/")[1:]
            compare(own, other)
        if batch == 2:
            ours.reset_state()
            theirs.reset_state()
            compare(ours.result(), theirs.result())


@each("name, arguments, made, fits", ROWS, ids=IDS)
def test_configurations(name, arguments, made, fits):
    """What is saved, and what is made of it again."""
    ours, theirs = both(name, arguments)
    mine, told = ours.get_config(), theirs.get_config()
    if "label_weights" in arguments:
        compare(mine.pop("label_weights"), told.pop("label_weights"))
    if "name" not in arguments:
        assert mine.pop("name").rstrip("_0123456789") == told.pop("name").rstrip("_0123456789")
    assert mine == told
    again = type(ours).from_config(ours.get_config())
    assert type(again) is type(ours) and again.name == ours.name
    assert getattr(ours, "_direction", None) == getattr(theirs, "_direction", None)
    if "label_weights" not in arguments:
        restored = metrics.deserialize(metrics.serialize(ours))
        assert type(restored) is type(ours) and restored.get_config() == ours.get_config()


@pytest.mark.parametrize("name", ["Mean", "Sum"])
def test_reductions(name):
    """Values of several ranks, with weights of several ranks."""
    ours, theirs = both(name, {})
    for shape, weights in (((), None), ((4,), None), ((4,), (4,)), ((4, 3), None), ((4, 3), (4,)), ((4, 3), (4, 3)),
                           ((4, 3, 2), (4, 3)), ((4, 3), ())):
        values, weight = uniform(*shape), None if weights is None else uniform(*weights)
        ours.update_state(values, sample_weight=weight)
        theirs.update_state(values, sample_weight=weight)
        compare(ours.result(), theirs.result())
    assert ours(2.0).numpy() == pytest.approx(theirs(2.0).numpy())


def test_a_result_stays():
    """A result does not change with later batches."""
    total = metrics.Sum()
    first = total(1.0)
    total(2.0)
    assert (float(first), float(total.result())) == (1.0, 3.0)


def test_masks():
    """What a mask of predictions leaves out does not count."""
    y_true, y_pred, mask = real(4, 3, 1), real(4, 3, 1), yes(4, 3).astype(bool)
    results = []
    for metric, convert in zip(both("MeanSquaredError", {}), (convert_to_tensor, genuine.tf.constant)):
        x = convert(y_pred)
        x._keras_mask = convert(mask)
        metric.update_state(y_true, x)
        results.append(metric.result())
    compare(*results)


@pytest.mark.parametrize("name", ["binary_accuracy", "categorical_accuracy", "pearson_correlation",
                                  "concordance_correlation", "top_k_categorical_accuracy"])
def test_functions(name):
    """Functions of the namespace that are no losses."""
    y_true, y_pred = chosen(), chances()
    compare(getattr(metrics, name)(y_true, y_pred), getattr(genuine.keras.metrics, name)(y_true, y_pred))


def test_not_a_number():
    """Predictions that are no numbers are above no threshold."""
    for name in ("AUC", "Precision"):
        ours, theirs = both(name, {})
        compare(ours([0, 1, 1], [np.nan, 0.7, np.nan]), theirs([0, 1, 1], [np.nan, 0.7, np.nan]))


def test_stateless():
    """The state is handed in and out, and stays as it is."""
    ours, theirs = both("Mean", {})
    results = []
    for metric in (ours, theirs):
        state = metric.stateless_reset_state()
        state = metric.stateless_update_state(state, np.array([1.0, 5.0], "float32"))
        results.append(metric.stateless_result(state))
        assert float(metric.result()) == 0.0
    compare(*results)
    with pytest.raises(ValueError, match="expected 2 variables.$"):
        ours.stateless_result([1.0])


def test_names():
    """Every name that genuine Keras knows, in every spelling; all public names."""
    assert genuine.keras  # or the test is skipped
    from keras.src.metrics import ALL_OBJECTS_DICT
    known = {"num_classes": 3, "target_class_ids": [0]}
    for name, thing in ALL_OBJECTS_DICT.items():
        if not thing.__init__.__code__.co_varnames[1:2] == ("name",):
            continue
        assert type(metrics.get(name)).__name__ == thing.__name__, name
    assert type(metrics.get({"class_name": "IoU", "config": known})).__name__ == "IoU"
    assert metrics.get(None) is None
    missing = {name for name in dir(genuine.keras.metrics) if not name.startswith("_")} - set(dir(metrics))
    assert not missing


def test_own_metric():
    """Variables and metrics in attributes are part of the state."""
    class Own(metrics.Metric):
        def __init__(self, name="own", **named):
            super().__init__(name=name, **named)
            self.total = self.add_weight(name="total", initializer="zeros")
            self.parts = [metrics.Mean(name="part")]

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(abs(convert_to_tensor(y_true) - convert_to_tensor(y_pred)).numpy().sum())
            self.parts[0].update_state(y_pred)

        def result(self):
            return self.total + self.parts[0].result()

    own = Own()
    assert [variable.path for variable in own.variables] == ["own/total", "part/total", "part/count"]
    assert float(own(np.ones(2, "float32"), np.zeros(2, "float32"))) == 2.0
    own.reset_state()
    assert float(own.result()) == 0.0

    class Forgetful(metrics.Metric):
        def __init__(self):
            self.add_variable((), "zeros")

    with pytest.raises(RuntimeError, match="forgot"):
        Forgetful()


@each("call, told", [
    (lambda: metrics.Precision(thresholds=[0.5, 2]), r"\[2\]"),
    (lambda: metrics.AUC(num_thresholds=1), "num_thresholds=1"),
    (lambda: metrics.AUC(curve="X"), r"\['ROC', 'PR', 'PRGAIN'\]"),
    (lambda: metrics.PrecisionAtRecall(2), "recall=2"),
    (lambda: metrics.SensitivityAtSpecificity(0.5, num_thresholds=0), "num_thresholds=0"),
    (lambda: metrics.FBetaScore(average="most"), "average=most"),
    (lambda: metrics.FBetaScore(beta=1), "<class 'int'>'"),
    (lambda: metrics.F1Score(threshold=2.0), "threshold=2.0"),
    (lambda: metrics.F1Score().update_state(yes(3), uniform(3)), r"y_true.shape=\(3,\)"),
    (lambda: metrics.R2Score(class_aggregation="most"), "class_aggregation=most"),
    (lambda: metrics.IoU(2, [2]), r"\[0, 2\)"),
    (lambda: metrics.AUC(num_labels=2), "num_labels=2"),
    (lambda: metrics.AUC(multi_label=True).update_state(yes(3), uniform(3)), r"\(3,\)"),
    (lambda: metrics.get("nothing"), "nothing"),
], ids=range(14))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}\.?$"):
        call()
