"""Put the engine's operators where PyTorch has them: functions by name, methods on Tensor with their in-place twins."""
from dragon import _C
from dragon.vm.torch.core import dialect
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


def attach():
    """Fill `FUNCTIONS` and Tensor from the tables of the dialect; what Python code registered stays."""
    operators = {}
    for name, operator, is_method in dialect.pairs(dialect.FUNCTIONS):
        operators[name] = operator
        FUNCTIONS.setdefault(name, getattr(ops, operator))
        if is_method:
            add_method(name, FUNCTIONS[name])
    for name in dialect.IN_PLACE_METHODS.split():
        add_method(name + "_", getattr(ops, operators[name] + "_"))
    for name in dialect.IN_PLACE_FUNCTIONS.split():
        FUNCTIONS.setdefault(name + "_", Tensor.__dict__.get(name + "_") or getattr(ops, operators[name] + "_"))
    for name, operator, _ in dialect.pairs(dialect.METHODS):
        add_method(name, getattr(ops, operator))


def add_method(name, function):
    """Give Tensor a method unless it has one of its own."""
    if name not in Tensor.__dict__ and name not in _C.Tensor.__dict__:
        setattr(Tensor, name, function)
