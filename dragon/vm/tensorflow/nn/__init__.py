"""`tf.nn`: what nets are made of."""
from dragon.vm.guest import gather as _gather, lookup as _lookup
from dragon.vm.shared.arrays.array import space_to_batch
from dragon.vm.shared.arrays.reducing import l2_normalize
from dragon.vm.tensorflow.core.numbers.rankings import approx_max_k, approx_min_k
from dragon.vm.tensorflow.nn import (activations, convolutions, lookup, losses, morphology, norms, pools, sampled,
                                     sequences, sparse_lookup)

_gather(globals(), activations, convolutions, lookup, losses, morphology, norms, pools, sampled, sequences,
        sparse_lookup)

__getattr__, __dir__ = _lookup(globals(), {
    "core.cells": "RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper",
    ".general": "with_space_to_batch",
})
