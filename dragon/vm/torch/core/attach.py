"""Put the engine's operators where PyTorch has them: functions by name, methods on Tensor with their in-place twins."""
from dragon import _C
from dragon.vm.torch._api import functions_at
from dragon.vm.torch.core.kinds import TensorOfParts
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import UNWRAPPED, Tensor, ops

# What the engine or Python has of PyTorch's: attributes, and methods that compute nothing.
ATTRIBUTES = ("shape", "dtype", "device", "ndim", "itemsize", "nbytes", "requires_grad", "is_leaf", "grad", "data",
              "retains_grad", "_version")
LOOKS = ("item", "tolist", "data_ptr", "retain_grad", "__complex__", "__reduce_ex__", "__deepcopy__", "__dir__")


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
    ask_attributes()


def add_method(name, function):
    """Give Tensor a method unless it has one of its own."""
    if name not in Tensor.__dict__ and name not in _C.Tensor.__dict__:
        setattr(Tensor, name, function)


def ask_attributes():
    """Have attributes, and methods that only look, ask classes and modes for `__torch_function__`.

    Tensors of parts answer for themselves, and are not asked.
    """
    plain = {name: _C.Tensor.__dict__[name] for name in ATTRIBUTES}
    plain.update((name, value) for name, value in vars(Tensor).items() if isinstance(value, property))
    for name, attribute in plain.items():
        setattr(Tensor, name, ops.asking_field(name, attribute))
        if name not in TensorOfParts.__dict__:
            setattr(TensorOfParts, name, attribute)
    for name in LOOKS:
        if name not in TensorOfParts.__dict__:
            setattr(TensorOfParts, name, getattr(Tensor, name))
        setattr(Tensor, name, ops.overridable(getattr(Tensor, name)))
    Tensor.__div__ = Tensor.div
    UNWRAPPED.update(getattr(Tensor, name).__get__ for name in ("_base", "grad", "_grad"))
