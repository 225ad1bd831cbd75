"""Python's operators as functions of the API: classes are asked for `Tensor.__rsub__`, rules are written for `sub`."""
from dragon import _C
from dragon.core.python_operators import BITWISE, OPERATORS
from dragon.vm.torch.core.tensor import Tensor

# What functions of the API are called that have another name than Python's operator.
_RENAMED = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
            "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
            "invert": "bitwise_not"}
FUNCTIONS = {name: _RENAMED.get(name, name) for name in OPERATORS}
# What operators of PyTorch's are called, where numbers may stand in the place of tensors.
ATEN = {**FUNCTIONS, **{name: f"__{name}__" for name in BITWISE}}
# Of a method: the function, and whether it takes its operands the other way round.
_METHODS = {"__rdiv__": ("div", True), "__eq__": ("eq", False),
            **{f"__r{name}__": (FUNCTIONS[name], True) for name in (
                "sub", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")},
            **{f"__{name}__": (FUNCTIONS[name], False) for name in ("floordiv", "invert", *BITWISE)},
            **{f"__i{name}__": (FUNCTIONS[name] + "_", False) for name in BITWISE}}
# What the engine asks for and computes nothing.
_LOOKS = {"__len__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "__setitem__", "__dir__", "item",
          "tolist", "data_ptr", "retain_grad"}


def scripts_name(name):
    """Return what scripts call one of Python's operators: "aten::add" of "add".

    Parameters
    ----------
    name : str
        What stands between the underscores of its method.

    Returns
    -------
    str
        Of the operator for numbers and tensors; `//` has two, and this is the one for numbers.

    """
    return "aten::floordiv" if name == "floordiv" else f"aten::{ATEN[name]}"


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
    name, swaps = _METHODS.get(func.__name__, (None, False))
    if name is None:
        return func, args
    return getattr(Tensor, name), args[::-1] if swaps else args


def is_attribute(func):
    """Return whether a function reads or writes an attribute of tensors."""
    return type(getattr(func, "__self__", None)) is _C.AskingField


def is_look(func):
    """Return whether a function only looks at a tensor, or writes what its caller hears of otherwise."""
    return is_attribute(func) or func.__name__ in _LOOKS
