"""The old name of tensors that gather gradients."""
import types

from dragon.vm.torch.core.gradients import queue_callback
from dragon.vm.torch.core.tensor import Tensor


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """Return the tensor itself, or data as a tensor, with `requires_grad` as asked."""

    _execution_engine = types.SimpleNamespace(queue_callback=queue_callback)  # libraries ask for it here

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if data is None:
            from dragon.vm.torch.core.functions.creation import tensor
            data = tensor([])
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: got {type(data).__name__}, expected a tensor")
        made = data.detach() if requires_grad != data.requires_grad else data
        return made.requires_grad_(requires_grad) if made is not data else made
