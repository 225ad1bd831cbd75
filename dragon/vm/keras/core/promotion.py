"""Tensors and variables of several dtypes brought to one."""
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.dtypes import result_type, standardize_dtype
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


def product(x, y):
    """Return the product of matrices in the dtype in which theirs meet."""
    return ops.matmul(*alike(x, y))


def floating(x):
    """Return a tensor in a float dtype: numbers that are none become the default float's."""
    name = dtype_of(x)
    return x if "float" in name else ops.cast(x, result_type(name, float))


SIZES = {"bool": 1, "bfloat16": 16, **{f"{kind}{size}": size for kind in ("float", "int", "uint")
                                       for size in (8, 16, 32, 64) if (kind, size) != ("float", 8)}}


def dtype_size(dtype):
    """Return how many bits a number of a dtype has."""
    if dtype not in SIZES:
        raise ValueError(f"Invalid dtype: {dtype}")
    return SIZES[dtype]


def is_float(dtype):
    """Return whether a name is one of a floating dtype."""
    return "float" in dtype


def cast_to_common_dtype(tensors):
    """Return tensors in the widest floating dtype among theirs; as they are where none is floating.

    Parameters
    ----------
    tensors : Sequence[Tensor]
        The tensors; float16 and bfloat16 meet in float32.

    Returns
    -------
    List[Tensor]
        The tensors in one dtype.

    """
    names = [name for name in (standardize_dtype(x.dtype) for x in tensors) if is_float(name)]
    if not names:
        return tensors
    widest = max(names, key=dtype_size)
    if dtype_size(widest) == 16 and len(set(names)) > 1:
        widest = "float32"
    return [above("ops").cast(x, widest) for x in tensors]
