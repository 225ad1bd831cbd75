"""Tensors from nothing, on the device of the innermost `dragon.device` block."""
import functools

from dragon.core.device import current_device
from dragon.tensor import ops


def on_current_device(name):
    """Return an operator as a function that also takes `requires_grad`, and whose `device` follows `dragon.device`."""
    operator = getattr(ops, name)

    @functools.wraps(operator, assigned=("__name__", "__doc__"), updated=())
    def create(*args, requires_grad=False, device=None, **kwargs):
        made = operator(*args, device=current_device() if device is None else device, **kwargs)
        made.requires_grad = requires_grad
        return made
    return create


empty = on_current_device("empty")
zeros = on_current_device("zeros")
ones = on_current_device("ones")
full = on_current_device("full")
arange = on_current_device("arange")
linspace = on_current_device("linspace")
logspace = on_current_device("logspace")
eye = on_current_device("eye")
empty_like = ops.empty_like
zeros_like = ops.zeros_like
ones_like = ops.ones_like
full_like = ops.full_like
