"""Schedules: learning rates that depend on the step."""
from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.optimizers.schedules.schedule import (
    CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, LearningRateSchedule, PiecewiseConstantDecay,
    PolynomialDecay)

REGISTRY = Registry("schedule", (LearningRateSchedule, ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay,
                                 PolynomialDecay, CosineDecay, CosineDecayRestarts), snake_case=False)
serialize, deserialize = REGISTRY.serialize, REGISTRY.deserialize
