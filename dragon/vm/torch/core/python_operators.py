"""Python's operators as functions of the API: classes are asked for `Tensor.__rsub__`, rules are written for `sub`."""
from dragon import _C
from dragon.vm.torch.core.tensor import Tensor

# Of a method: the function, and whether it takes its operands the other way round.
OPERATORS = {"__rsub__": ("sub", True), "__rdiv__": ("div", True), "__rfloordiv__": ("floor_divide", True),
             "__rmod__": ("remainder", True), "__rpow__": ("pow", True), "__rmatmul__": ("matmul", True),
             "__rlshift__": ("bitwise_left_shift", True), "__rrshift__": ("bitwise_right_shift", True)}
OPERATORS.update((f"__{name}__", (target, False)) for name, target in {
    "floordiv": "floor_divide", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "eq": "eq",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "invert": "bitwise_not", "iand": "bitwise_and_",
    "ior": "bitwise_or_", "ixor": "bitwise_xor_", "ilshift": "bitwise_left_shift_",
    "irshift": "bitwise_right_shift_"}.items())
# What the engine asks for and computes nothing.
_LOOKS = {"__len__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "__setitem__", "__dir__", "item",
          "tolist", "data_ptr", "retain_grad"}


def function_of(func, args):
    """Return the function of the API, and its arguments, for a method that one of Python's operators asks for.

    Parameters
    ----------
    func : Callable
        What is called; anything but such a method is returned as it is.
    args : tuple
        Its positional arguments.

    Returns
    -------
    Tuple[Callable, tuple]
        The function and the arguments in its order.

    """
    name, swaps = OPERATORS.get(func.__name__, (None, False))
    if name is None:
        return func, args
    return getattr(Tensor, name), args[::-1] if swaps else args


def is_attribute(func):
    """Return whether a function reads or writes an attribute of tensors."""
    return type(getattr(func, "__self__", None)) is _C.AskingField


def is_look(func):
    """Return whether a function only looks at a tensor, or writes what its caller hears of otherwise."""
    return is_attribute(func) or func.__name__ in _LOOKS
