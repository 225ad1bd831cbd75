"""What `compile` makes of names: losses and metrics that suit targets and predictions."""
ACCURACY, CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


def kind_of_classes(y_true, y_pred):
    """Return "binary", "sparse" or "categorical", by the shapes of targets and predictions."""
    true, pred = tuple(y_true.shape), tuple(y_pred.shape)
    if pred[-1] == 1:
        return "binary"
    return "sparse" if len(true) < len(pred) or true[-1] == 1 and pred[-1] > 1 else "categorical"


def name_of(thing):
    """Return the name of an object, function or class."""
    name = getattr(thing, "name", None) or getattr(thing, "__name__", None)
    if name:
        return name
    from dragon.vm.keras.core.naming import to_snake_case
    return to_snake_case(type(thing).__name__)


def make_metric(identifier, y_true, y_pred):
    """Return the metric that a name, function or object stands for.

    Parameters
    ----------
    identifier : Union[str, Callable, Metric, dict]
        What the user said.
    y_true, y_pred : Tensor
        Targets and predictions, whose shapes tell what "accuracy" means.

    Returns
    -------
    Metric
        The metric, named as the user named it.

    """
    from dragon.vm.keras import metrics
    if identifier is None:
        raise ValueError("Expected a metric. Received: None")
    if str(identifier).lower() in ACCURACY:
        kinds = {"binary": metrics.BinaryAccuracy, "sparse": metrics.SparseCategoricalAccuracy,
                 "categorical": metrics.CategoricalAccuracy}
        metric = kinds[kind_of_classes(y_true, y_pred)](name=str(identifier))
    else:
        metric = metrics.get(identifier)
    name = identifier if isinstance(identifier, str) else name_of(metric)
    if not isinstance(metric, metrics.Metric):
        metric = metrics.MeanMetricWrapper(metric)
    metric.name = name
    return metric


def make_loss(identifier, y_true, y_pred):
    """Return the loss that a name, function or object stands for; None for None.

    Parameters
    ----------
    identifier : Union[str, Callable, Loss, dict, None]
        What the user said.
    y_true, y_pred : Tensor
        Targets and predictions, whose shapes tell what "crossentropy" means.

    Returns
    -------
    Optional[Loss]
        The loss.

    """
    from dragon.vm.keras import losses
    if identifier is None:
        return None
    if str(identifier).lower() in CROSSENTROPY:
        kinds = {"binary": losses.binary_crossentropy, "sparse": losses.sparse_categorical_crossentropy,
                 "categorical": losses.categorical_crossentropy}
        loss = kinds[kind_of_classes(y_true, y_pred)]
    else:
        loss = losses.get(identifier)
    if not isinstance(loss, losses.Loss):
        from dragon.vm.keras.losses.wrapper import LossFunctionWrapper
        loss = LossFunctionWrapper(loss, name=identifier if isinstance(identifier, str) else name_of(loss))
    return loss
