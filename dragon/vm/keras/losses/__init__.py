"""Losses: how far predictions are from targets."""
from dragon.vm.guest import lookup
from dragon.vm.keras.losses.classification import (
    BinaryCrossentropy, BinaryFocalCrossentropy, CategoricalCrossentropy, CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy, SparseCategoricalCrossentropy, binary_crossentropy, binary_focal_crossentropy,
    categorical_crossentropy, categorical_focal_crossentropy, categorical_generalized_cross_entropy,
    sparse_categorical_crossentropy)
from dragon.vm.keras.losses.loss import Loss
from dragon.vm.keras.losses.margins import (
    CategoricalHinge, Circle, CosineSimilarity, Hinge, SquaredHinge, categorical_hinge, circle, cosine_similarity,
    hinge, squared_hinge)
from dragon.vm.keras.losses.registry import REGISTRY
from dragon.vm.keras.losses.regions import CTC, Dice, Tversky, ctc, dice, tversky
from dragon.vm.keras.losses.regression import (
    Huber, KLDivergence, LogCosh, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError,
    MeanSquaredLogarithmicError, Poisson, huber, kl_divergence, log_cosh, mean_absolute_error,
    mean_absolute_percentage_error, mean_squared_error, mean_squared_logarithmic_error, poisson)

get, serialize = REGISTRY.get, REGISTRY.serialize
_find, __dir__ = lookup(globals())


def __getattr__(name):
    from dragon.vm.keras.losses.legacy import NAMES, Reduction

    if name == "Reduction":
        return Reduction
    if name in NAMES:
        return NAMES[name]
    return _find(name)


def deserialize(name, custom_objects=None):
    """Return the loss that a configuration describes: `Registry.deserialize` under the argument's name in Keras."""
    return REGISTRY.deserialize(name, custom_objects)
