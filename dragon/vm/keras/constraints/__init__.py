"""Constraints: what weights are brought back to after each update."""
from dragon.vm.keras.constraints.constraint import Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm
from dragon.vm.keras.constraints.named import deserialize, get, serialize

max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
