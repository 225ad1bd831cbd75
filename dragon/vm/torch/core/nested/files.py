"""Nested tensors in files, other processes and deep copies."""
import copy

from dragon.vm.torch import _tensor
from dragon.vm.torch.core.functions.pickling import keeps_attributes
from dragon.vm.torch.core.nested.conversions import both
from dragon.vm.torch.core.nested.making import table_of
from dragon.vm.torch.core.nested.parts import NestedTensor, StridedNested, form_of, parts_of, sizes_of, values_of
from dragon.vm.torch.core.nested.rebuilding import _rebuild_nested_tensor, _rebuild_njt
from dragon.vm.torch.core.state import _set_obj_state
from dragon.vm.torch.core.tensor import ops

HELD = ("_values", "_offsets", "_lengths", "_ragged_idx", "_metadata_cache", "_size", "_strides",
        "_has_dynamo_dim_marking")


def reduce(self, proto):
    """Return (function, arguments) that make a jagged tensor anew."""
    form = form_of(self)
    known = {name: ops.zeros((length, 0)) for name, length in form.extent.items()}
    arguments = ({"values": values_of(self).detach(), "offsets": form.offsets, "lengths": form.lengths,
                  "_ragged_idx": form.dim, "_metadata_cache": known, "requires_grad": self.requires_grad},)
    state = {name: value for name, value in keeps_attributes(self).items() if name != "_form"}
    return _tensor._rebuild_from_type_v2, (_rebuild_njt, NestedTensor, arguments, state)


def reduce_strided(self, proto):
    """Return (function, arguments) that make a nested tensor of layout `torch.strided` anew."""
    shapes, steps, starts, start = sizes_of(self), [], [], 0
    for shape in shapes:
        sample, step = [], 1
        for size in reversed(shape):
            sample.insert(0, step)
            step *= size
        steps.append(sample)
        starts.append(start)
        start += step if 0 not in shape else 0
    sizes, numbers = parts_of(self)[0], values_of(self).detach()
    return _rebuild_nested_tensor, (numbers.requires_grad_() if self.requires_grad else numbers, sizes,
                                    table_of(steps, sizes.shape[1]),
                                    ops.reshape(table_of([starts], len(starts)), (-1,)))


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
    return memo[id(self)]


def set_state(self, state):
    """Take on the attributes that Python code gave a tensor; those that PyTorch holds its parts in are told already."""
    _set_obj_state(self, {name: value for name, value in dict(state).items()
                          if name not in HELD and not name.startswith("_dynamo_")})


NestedTensor.__setstate__ = set_state
NestedTensor.__reduce_ex__, StridedNested.__reduce_ex__ = reduce, reduce_strided
NestedTensor.__deepcopy__ = deep_copy
both("_reduce_ex_internal")(lambda self, proto: self.__reduce_ex__(proto))
