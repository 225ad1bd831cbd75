"""Put the engine's operators where PyTorch has them: functions by name, methods on Tensor with their in-place twins."""
from dragon import _C
from dragon.vm.torch._api import functions_at
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


def attach():
    """Fill `FUNCTIONS` and Tensor from the rows; what Python code registered stays, and is the method too."""
    written = dict(FUNCTIONS)
    for name, function in functions_at("torch", ops):
        FUNCTIONS.setdefault(name, function)
    for name, function in functions_at("Tensor", ops):
        add_method(name, written.get(name, function))
    for name, function in functions_at("Tensor_", ops):
        add_method(name, function)
    for name, function in functions_at("torch_", ops):
        FUNCTIONS.setdefault(name, Tensor.__dict__.get(name) or function)


def add_method(name, function):
    """Give Tensor a method unless it has one of its own."""
    if name not in Tensor.__dict__ and name not in _C.Tensor.__dict__:
        setattr(Tensor, name, function)
