"""What signatures say of nodes and constants."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.signatures import (
    ConstantArgument, SymBoolArgument, SymFloatArgument, SymIntArgument, TensorArgument)


def argument_of(value, name=""):
    """Return what a signature says of an output or input.

    Parameters
    ----------
    value : Any
        A node, or a constant.
    name : str, optional, default=""
        Of a constant.

    Returns
    -------
    Any
        TensorArgument and the like.

    """
    if not hasattr(value, "meta"):
        return ConstantArgument(name, value)
    known = value.meta.get("val")
    if isinstance(known, Tensor):
        return TensorArgument(value.name)
    if isinstance(known, bool):
        return SymBoolArgument(value.name)
    if isinstance(known, float):
        return SymFloatArgument(value.name)
    if value.op == "placeholder":
        return ConstantArgument(value.name, known)
    return SymIntArgument(value.name)
