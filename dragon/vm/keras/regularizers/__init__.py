"""Regularizers: penalties on weights."""
from dragon.vm.keras.regularizers.named import deserialize, get, serialize
from dragon.vm.keras.regularizers.regularizer import L1, L2, L1L2, OrthogonalRegularizer, Regularizer

l1 = L1
l2 = L2
l1_l2 = L1L2
orthogonal_regularizer = OrthogonalRegularizer
