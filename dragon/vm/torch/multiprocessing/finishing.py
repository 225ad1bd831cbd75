"""Tensors that came from another process, as they were there."""
from dragon.vm.torch.core.tensor import Tensor


def finish(made, cls, requires_grad):
    """Return a tensor as an instance of its class."""
    if cls is not Tensor:
        made = made.detach()
        made.__class__ = cls
    if requires_grad or made.requires_grad:
        made.requires_grad = requires_grad
    return made
