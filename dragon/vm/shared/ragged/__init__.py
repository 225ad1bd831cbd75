"""Tensors whose rows differ in length."""
from dragon.vm.shared.ragged import later


def _ragged_class():
    from dragon.vm.shared.ragged.tensor import RaggedTensor
    return RaggedTensor


def _sparse_math():
    from dragon.vm.shared.sparse import math
    return math


def _compute():
    from dragon.vm.shared.ragged import math  # noqa: F401: it teaches at its end


def _teach():
    from dragon.vm.shared.ragged import dispatch  # noqa: F401: it is done by importing it, and the arithmetic with it


later.ragged_class.append(_ragged_class)
later.sparse_math.append(_sparse_math)
later.compute.append(_compute)
later.teach.append(_teach)
