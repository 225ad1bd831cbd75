"""Put the engine's operators where PyTorch has them: functions by name, methods on Tensor with their in-place twins."""
from dragon import _C
from dragon.vm.torch.core import dialect
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


def attach():
    """Fill `FUNCTIONS` and Tensor from the tables of the dialect; what Python code registered stays."""
    for name, operator, is_method in dialect.pairs(dialect.FUNCTIONS):
        found = getattr(ops, operator)
        FUNCTIONS.setdefault(name, found)
        if is_method:
            add_method(name, FUNCTIONS[name])
            add_method(name + "_", getattr(ops, operator + "_"))
            FUNCTIONS.setdefault(name + "_", getattr(ops, operator + "_"))
    for name, operator, _ in dialect.pairs(dialect.METHODS):
        add_method(name, getattr(ops, operator))


def add_method(name, function):
    """Give Tensor a method unless it has one of its own."""
    if name not in Tensor.__dict__ and name not in _C.Tensor.__dict__:
        setattr(Tensor, name, function)
