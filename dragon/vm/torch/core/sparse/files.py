"""Sparse tensors in files, other processes and deep copies."""
import copy

from dragon.vm.torch import _tensor
from dragon.vm.torch.core.functions.pickling import keeps_attributes
from dragon.vm.torch.core.sparse.parts import (SparseTensor, is_coalesced, is_coordinates, layout_of, parts_of, rule)
from dragon.vm.torch.core.sparse.rebuilding import _rebuild_sparse_tensor


def reduce(self, proto):
    """Return (function, arguments) that make the tensor anew."""
    data = tuple(part.detach() for part in parts_of(self)) + (self.shape,)
    if is_coordinates(self):
        data += (is_coalesced(self),)
    arguments = layout_of(self), data
    state = {name: value for name, value in keeps_attributes(self).items() if name != "_is_coalesced"}
    if not state:
        return _rebuild_sparse_tensor, arguments
    return _tensor._rebuild_from_type_v2, (_rebuild_sparse_tensor, SparseTensor.__base__, arguments, state)


def deep_copy(self, memo):
    """Return a copy of all parts, a leaf."""
    if not self.is_leaf:
        raise RuntimeError("deepcopy: got a tensor that was computed from others, expected a leaf: only tensors that "
                           "the user made support the deepcopy protocol; detach() it first")
    if id(self) not in memo:
        made = self.detach().clone()
        memo[id(self)] = made.requires_grad_() if self.requires_grad else made
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        for name, value in keeps_attributes(self).items():
            if name != "_is_coalesced":
                setattr(made, name, copy.deepcopy(value, memo))
    return memo[id(self)]


SparseTensor.__reduce_ex__ = reduce
SparseTensor.__deepcopy__ = deep_copy
rule("_reduce_ex_internal")(reduce)
