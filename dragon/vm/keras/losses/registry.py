"""Losses by name: functions in small letters, classes as they are written, and what both are for short."""
from dragon.vm.keras.core.registry import Registry
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
SHORT = {"bce": classification.binary_crossentropy, "kld": regression.kl_divergence,
         "mae": regression.mean_absolute_error, "mse": regression.mean_squared_error,
         "mape": regression.mean_absolute_percentage_error, "msle": regression.mean_squared_logarithmic_error}


def spell(short):
    """Return short names in small and in capital letters."""
    return {spelling: thing for name, thing in short.items() for spelling in (name, name.upper())}


REGISTRY = Registry("loss", (*FUNCTIONS, Loss, LossFunctionWrapper, *NamedLoss.__subclasses__()), snake_case=False,
                    **spell(SHORT))
