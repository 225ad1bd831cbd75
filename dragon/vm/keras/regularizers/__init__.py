"""Regularizers: penalties on weights."""
from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.regularizers.regularizer import L1, L2, L1L2, OrthogonalRegularizer, Regularizer

REGISTRY = Registry("regularizer", (Regularizer, L1, L2, L1L2, OrthogonalRegularizer))
get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
l1 = L1
l2 = L2
l1_l2 = L1L2
orthogonal_regularizer = OrthogonalRegularizer
