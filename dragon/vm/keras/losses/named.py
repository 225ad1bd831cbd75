"""Losses by name."""
from dragon.vm.keras.core import registry
from dragon.vm.keras.losses import classification, margins, regions, regression
from dragon.vm.keras.losses.loss import Loss
from dragon.vm.keras.losses.wrapper import LossFunctionWrapper, NamedLoss

FUNCTIONS = (
    regression.mean_squared_error, regression.mean_absolute_error, regression.mean_absolute_percentage_error,
    regression.mean_squared_logarithmic_error, regression.huber, regression.log_cosh, regression.kl_divergence,
    regression.poisson, classification.binary_crossentropy, classification.binary_focal_crossentropy,
    classification.categorical_crossentropy, classification.categorical_focal_crossentropy,
    classification.sparse_categorical_crossentropy, classification.categorical_generalized_cross_entropy,
    margins.hinge, margins.squared_hinge, margins.categorical_hinge, margins.cosine_similarity, margins.circle,
    regions.dice, regions.tversky, regions.ctc)
CLASSES = (Loss, LossFunctionWrapper, *NamedLoss.__subclasses__())
SHORT = {"bce": "binary_crossentropy", "kld": "kl_divergence", "mae": "mean_absolute_error",
         "mse": "mean_squared_error", "mape": "mean_absolute_percentage_error",
         "msle": "mean_squared_logarithmic_error"}

TABLE = {thing.__name__: thing for thing in (*FUNCTIONS, *CLASSES)}
TABLE.update({spelling: TABLE[name] for short, name in SHORT.items() for spelling in (short, short.upper())})


def serialize(loss):
    """Return the configuration of a loss.

    Parameters
    ----------
    loss : Union[Loss, Callable]
        A loss, or a function of targets and predictions.

    """
    return registry.serialize(loss)


def deserialize(name, custom_objects=None):
    """Return the loss that a configuration describes.

    Parameters
    ----------
    name : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(name, TABLE, custom_objects)


def get(identifier):
    """Return a loss by its name, configuration, class, or as it is.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Callable]]
        A name in either spelling ("mse", "mean_squared_error": the function; "MeanSquaredError": a loss).

    """
    return None if identifier is None else registry.resolve("loss", identifier, TABLE, deserialize)
