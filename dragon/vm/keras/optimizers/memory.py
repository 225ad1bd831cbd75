"""The memory of variables: read without a copy, and not written while others hold it."""
from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.shared.tensors.placing import beside
from dragon.vm.shared.tensors.variable import inferring
from dragon.vm.shared.tensors.tensor import Tensor, ops


def numbers_of(variable):
    """Return a variable of any frontend as a tensor for formulas; it is not to be kept beyond the next write."""
    return _C.as_class(variable, Tensor)


def dtype_of(variable):
    """Return the name of the dtype that a variable of any frontend is kept in."""
    return getattr(variable, "_dtype", None) or standardize_dtype(variable.dtype)


def own_memory(variable):
    """Let a variable that is about to be written in place leave the old numbers to whoever else holds them."""
    if inferring.on:
        return
    if _C.storage_owners(variable) > 1 and not is_capturing() and hasattr(variable, "assign"):
        is_recorded = variable.requires_grad
        with beside(variable):
            variable.data = ops.clone(variable)
        variable.requires_grad = is_recorded
