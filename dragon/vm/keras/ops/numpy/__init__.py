"""keras.ops.numpy: what NumPy has, on tensors."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.ops.linalg import slogdet
from dragon.vm.keras.ops.numpy import (
    creation, indexing, joining, lifting, logic, nans, pointwise, products, quantiles, reductions, shapes, sorting)

_gather(globals(), creation, indexing, joining, lifting, logic, nans, pointwise, products, quantiles, reductions,
        shapes, sorting)
