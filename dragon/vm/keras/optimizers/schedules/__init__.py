"""Schedules: learning rates that depend on the step."""
from dragon.vm.keras.optimizers.schedules.named import deserialize, serialize
from dragon.vm.keras.optimizers.schedules.schedule import (
    CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, LearningRateSchedule, PiecewiseConstantDecay,
    PolynomialDecay)
