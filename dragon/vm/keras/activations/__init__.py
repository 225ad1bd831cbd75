"""Activations: functions that layers put behind their sums."""
from dragon.vm.keras.activations.activation import (
    celu, elu, exponential, gelu, glu, hard_shrink, hard_sigmoid, hard_silu, hard_tanh, leaky_relu, linear,
    log_sigmoid, log_softmax, mish, relu, relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign,
    sparse_plus, sparse_sigmoid, sparsemax, squareplus, tanh, tanh_shrink, threshold)
from dragon.vm.keras.activations.registry import REGISTRY

get, serialize, deserialize = REGISTRY.get, REGISTRY.serialize, REGISTRY.deserialize
hard_swish = hard_silu
swish = silu
