"""Optimizers: how variables follow their gradients."""
from dragon.vm.keras.optimizers import legacy, schedules
from dragon.vm.keras.optimizers.adam import Adam, Adamax, AdamW, Lamb, Nadam, ScheduleFreeAdamW
from dragon.vm.keras.optimizers.adaptive import Adadelta, Adafactor, Adagrad, RMSprop
from dragon.vm.keras.optimizers.descent import SGD, Ftrl, Lion
from dragon.vm.keras.optimizers.muon import Muon
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.keras.optimizers.registry import REGISTRY
from dragon.vm.keras.optimizers.scaling import LossScaleOptimizer
from dragon.vm.keras.optimizers.several import MultiOptimizer, OptimizerMap

get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
