"""Metrics: numbers about predictions, gathered over batches."""
from dragon.vm.guest import lookup
from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.losses.classification import (
    binary_crossentropy, binary_focal_crossentropy, categorical_crossentropy, categorical_focal_crossentropy,
    sparse_categorical_crossentropy)
from dragon.vm.keras.losses.margins import categorical_hinge, hinge, squared_hinge
from dragon.vm.keras.losses.registry import spell
from dragon.vm.keras.losses.regression import (
    huber, kl_divergence, log_cosh, mean_absolute_error, mean_absolute_percentage_error, mean_squared_error,
    mean_squared_logarithmic_error, poisson)
from dragon.vm.keras.metrics.accuracy import (
    Accuracy, BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy, top_k_categorical_accuracy)
from dragon.vm.keras.metrics.auc import AUC
from dragon.vm.keras.metrics.confusion import (
    FalseNegatives, FalsePositives, Precision, PrecisionAtRecall, Recall, RecallAtPrecision, SensitivityAtSpecificity,
    SpecificityAtSensitivity, TrueNegatives, TruePositives)
from dragon.vm.keras.metrics.iou import BinaryIoU, IoU, MeanIoU, OneHotIoU, OneHotMeanIoU
from dragon.vm.keras.metrics.means import (
    BinaryCrossentropy, CategoricalCrossentropy, CategoricalHinge, ConcordanceCorrelation, CosineSimilarity, Hinge,
    KLDivergence, LogCoshError, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError,
    MeanSquaredLogarithmicError, PearsonCorrelation, Poisson, RootMeanSquaredError, SparseCategoricalCrossentropy,
    SquaredHinge, concordance_correlation, pearson_correlation)
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.keras.metrics.reduction import Mean, MeanMetricWrapper, NamedMetric, Sum
from dragon.vm.keras.metrics.score import F1Score, FBetaScore, R2Score

REGISTRY = Registry("metric", (
    Metric, Mean, Sum, MeanMetricWrapper, *NamedMetric.__subclasses__(), RootMeanSquaredError, R2Score, F1Score,
    FBetaScore, AUC, FalseNegatives, FalsePositives, Precision, PrecisionAtRecall, Recall, RecallAtPrecision,
    SensitivityAtSpecificity, SpecificityAtSensitivity, TrueNegatives, TruePositives, BinaryIoU, IoU, MeanIoU,
    OneHotIoU, OneHotMeanIoU), **spell({
        "bce": BinaryCrossentropy, "mae": MeanAbsoluteError, "mse": MeanSquaredError,
        "mape": MeanAbsolutePercentageError, "msle": MeanSquaredLogarithmicError}))
get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
_find, __dir__ = lookup(globals())


def __getattr__(name):
    from dragon.vm.keras.losses.legacy import NAMES

    if name in NAMES:
        return NAMES[name]
    return _find(name)
