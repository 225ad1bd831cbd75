"""Tensors and variables of several dtypes brought to one."""
from dragon.vm.keras.core.dtypes import result_type
from dragon.vm.shared.tensors.tensor import ops


def dtype_of(x):
    """Return the name of the dtype of a tensor or a variable."""
    dtype = x.dtype
    return dtype if dtype.__class__ is str else dtype.name


def cast_to(x, dtype):
    """Return a tensor in a dtype; itself if it has that one."""
    return x if dtype_of(x) == dtype else ops.cast(x, dtype)


def alike(x, y):
    """Return two tensors in the dtype in which theirs meet."""
    first, second = dtype_of(x), dtype_of(y)
    if first == second:
        return x, y
    dtype = result_type(first, second)
    return cast_to(x, dtype), cast_to(y, dtype)


def floating(x):
    """Return a tensor in a float dtype: numbers that are none become the default float's."""
    name = dtype_of(x)
    return x if "float" in name else ops.cast(x, result_type(name, float))
