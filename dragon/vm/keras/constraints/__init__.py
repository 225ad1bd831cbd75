"""Constraints: what weights are brought back to after each update."""
from dragon.vm.keras.constraints.constraint import Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm
from dragon.vm.keras.core.registry import Registry

REGISTRY = Registry("constraint", (Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm))
get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
