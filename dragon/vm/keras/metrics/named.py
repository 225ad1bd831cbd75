"""Metrics by name."""
from dragon.vm.keras.core import registry
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.losses.named import SHORT
from dragon.vm.keras.metrics import auc, confusion, iou, means, reduction, score
from dragon.vm.keras.metrics import accuracy  # noqa: F401  its classes are among the subclasses below
from dragon.vm.keras.metrics.metric import Metric

CLASSES = (
    Metric, reduction.Mean, reduction.Sum, reduction.MeanMetricWrapper, *reduction.NamedMetric.__subclasses__(),
    means.RootMeanSquaredError, score.R2Score, score.F1Score, score.FBetaScore, auc.AUC, confusion.FalseNegatives,
    confusion.FalsePositives, confusion.Precision, confusion.PrecisionAtRecall, confusion.Recall,
    confusion.RecallAtPrecision, confusion.SensitivityAtSpecificity, confusion.SpecificityAtSensitivity,
    confusion.TrueNegatives, confusion.TruePositives, iou.BinaryIoU, iou.IoU, iou.MeanIoU, iou.OneHotIoU,
    iou.OneHotMeanIoU)
TABLE = {cls.__name__: cls for cls in CLASSES}
TABLE.update({to_snake_case(cls.__name__): cls for cls in CLASSES})
TABLE.update({spelling: TABLE[name] for short, name in SHORT.items() if short != "kld"
              for spelling in (short, short.upper())})


def serialize(metric):
    """Return the configuration of a metric.

    Parameters
    ----------
    metric : Union[Metric, Callable]
        A metric, or a function of targets and predictions.

    """
    return registry.serialize(metric)


def deserialize(config, custom_objects=None):
    """Return the metric that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return a metric by its name, configuration, class, or as it is.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Callable]]
        A name in either spelling ("AUC", "auc", "mse").

    """
    return None if identifier is None else registry.resolve("metric", identifier, TABLE, deserialize)
