"""Which dtype several operands have in common: as NumPy says, or on the paths that TensorFlow's newer modes allow."""
from dragon import _C
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import OBJECTS, DType, as_dtype
from dragon.vm.shared.tensors.tensor import ops

SCALARS = (bool, int, float, complex)


class Settings:
    """What `experimental_enable_numpy_behavior` says."""

    prefers_float32 = False
    mode = "legacy"


def default_float():
    """Return the dtype of floating numbers that say none."""
    return OBJECTS["float32" if Settings.prefers_float32 else "float64"]


def canonical(dtype):
    """Return a dtype, the narrower one of floating numbers where those are preferred."""
    dtype = as_dtype(dtype)
    narrower = {"float64": "float32", "complex128": "complex64"} if Settings.prefers_float32 else {}
    return OBJECTS[narrower.get(dtype.name, dtype.name)]


def _fact(value):
    """Return what NumPy's rules look at: a number itself, or a dtype."""
    import numpy as np
    if type(value) in SCALARS:
        return value
    if isinstance(value, _C.Tensor):
        value = as_dtype(value.dtype)
    if isinstance(value, DType):
        return value.as_numpy_dtype
    if isinstance(value, (list, tuple)):
        return to_tensor(value).dtype.as_numpy_dtype
    return value.dtype if isinstance(value, (np.ndarray, np.generic)) else value


def result_type(*arrays_and_dtypes):
    """Return the dtype that tensors, numbers and dtypes have in common.

    Parameters
    ----------
    *arrays_and_dtypes : Any
        Tensors, Python numbers, which follow the tensors beside them, and dtypes.

    Returns
    -------
    DType
        The dtype.

    """
    import numpy as np
    if not arrays_and_dtypes:
        raise ValueError("result_type: expected at least one array or dtype. Received: none")
    if Settings.mode in ("all", "safe"):
        from dragon.vm.tensorflow.core.numpy_like.lattice import common
        return common(arrays_and_dtypes, Settings.mode == "safe")[0]
    facts = [_fact(value) for value in arrays_and_dtypes]
    if all(type(fact) in SCALARS for fact in facts):
        facts = [np.asarray(fact).dtype for fact in facts]
    return canonical(np.result_type(*facts))


def promote_types(type1, type2):
    """Return NumPy's dtype for two dtypes together."""
    import numpy as np
    found = np.promote_types(_fact(as_dtype(type1)), _fact(as_dtype(type2)))
    return np.dtype(canonical(found).as_numpy_dtype)


def to_tensor(value, dtype=None):
    """Return a value as a tensor; Python's numbers and lists have NumPy's dtypes."""
    import numpy as np
    if isinstance(value, _C.Tensor):
        made = take(value)
    elif isinstance(value, (np.ndarray, np.generic)):
        made = convert_to_tensor(value)
        made = ops.cast(made, canonical(made.dtype)) if Settings.prefers_float32 else made
    elif hasattr(value, "__tf_tensor__") or isinstance(value, (str, bytes)):
        made = convert_to_tensor(value)
    elif isinstance(value, (list, tuple)) and _holds_tensors(value):
        parts = [to_tensor(part) for part in value]
        common = result_type(*[part for part, own in zip(parts, value) if type(own) not in SCALARS])
        made = ops.stack([ops.cast(part, common) for part in parts])
    elif Settings.mode in ("all", "safe"):
        made = convert_to_tensor(value)  # where Python's numbers are int32 and float32, and follow others
        if type(value) in SCALARS or isinstance(value, (list, tuple)):
            made._weak = True
    else:
        array = np.asarray(value)
        if array.dtype == object:
            raise ValueError(f"tf.experimental.numpy: got {value!r}, expected numbers in a regular box")
        made = convert_to_tensor(array, None if array.dtype.kind in "SU" else canonical(array.dtype))
    return made if dtype is None else ops.cast(made, as_dtype(dtype))


def _holds_tensors(value):
    return any(isinstance(part, _C.Tensor) or isinstance(part, (list, tuple)) and _holds_tensors(part)
               for part in value)


def together(*values, change=None):
    """Return values as tensors of the dtype that they have in common.

    Parameters
    ----------
    *values : Any
        Tensors, arrays, lists and numbers.
    change : Callable, optional
        What becomes of that dtype.

    """
    values = [value if type(value) in SCALARS else to_tensor(value) for value in values]
    dtype = result_type(*values)
    dtype = dtype if change is None else change(dtype)
    return [to_tensor(value, dtype) for value in values]


def inexact(dtype):
    """Return a dtype, or that of floating numbers in the place of integers and bools."""
    return dtype if dtype.is_floating or dtype.is_complex else default_float()


def counting(dtype):
    """Return the dtype of sums and products: int64 for bools and narrower integers."""
    return OBJECTS["int64"] if dtype.is_bool or dtype.is_integer else dtype
