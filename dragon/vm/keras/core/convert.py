"""Whatever a user hands to Keras, as a tensor."""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.settings import is_capturing
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.shared.tensors.tensor import Tensor, ops


def is_tensor(x):
    """Tell whether something is a tensor or a variable with numbers (or strings) in it."""
    return isinstance(x, (_C.Tensor, Tensor)) or is_parted(x)


def is_parted(x):
    """Tell whether something is a ragged or sparse tensor: values, and where they stand."""
    return getattr(type(x), "kept_in_parts", False)


def is_keras_tensor(x):
    """Tell whether something is a symbolic tensor: a shape and a dtype in a graph of layers."""
    from dragon.vm.keras.core.keras_tensor import KerasTensor
    return isinstance(x, KerasTensor)


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """Return something as a tensor.

    Parameters
    ----------
    x : Any
        A tensor, a variable, an array, a number, or lists of them.
    dtype : str, optional
        The dtype to have; without it, arrays keep theirs.
    sparse : bool, optional
        False makes a dense tensor of a sparse one.
    ragged : bool, optional
        False makes a dense tensor of a ragged one.

    """
    if isinstance(x, _C.Tensor):
        if isinstance(x, Tensor):
            pass
        elif hasattr(x, "_autocast"):  # a variable: what it is read as
            x = x.value
        elif x.__class__.__name__ != "Variable":
            x = _C.as_class(x, Tensor)
        if dtype is None or standardize_dtype(x.dtype) == (dtype := standardize_dtype(dtype)):
            return x
        return ops.cast(x, dtype)
    return _convert_other(x, dtype, sparse, ragged)


def _convert_other(x, dtype, sparse, ragged):
    from dragon.vm.shared.tensors.convert import convert_to_tensor as convert
    if is_keras_tensor(x):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape and a dtype, without numbers. "
                         f"Expected a tensor. Received: {x}")
    if is_parted(x):
        is_sparse = hasattr(x, "dense_shape")
        x = with_values(x, lambda values: convert_to_tensor(values, dtype))
        return dense_of(x) if (sparse if is_sparse else ragged) is False else x
    if dtype is None:
        return convert(x)
    dtype = standardize_dtype(dtype)
    if dtype == "string":
        return convert(x)
    is_number = isinstance(x, (int, float, list, tuple)) and not dtype.startswith(("bool", "int", "uint"))
    made = convert(x, dtype=dtype) if is_number else convert(x)
    if standardize_dtype(made.dtype) == dtype:
        return made
    return ops.cast(made, dtype) if is_capturing() else modes.with_numbers(lambda: ops.cast(made, dtype))


def with_values(x, function):
    """Return a ragged or sparse tensor with what a function makes of its values."""
    return x.with_values(function(x.values)) if hasattr(x, "dense_shape") else (
        x.with_flat_values(function(x.flat_values)))


def dense_of(x):
    """Return a ragged tensor filled up with zeros, or a sparse one with its zeros; any other as it is."""
    if not is_parted(x):
        return x
    if not hasattr(x, "dense_shape"):
        return x.to_tensor()
    from dragon.vm.shared.sparse.math import to_dense
    return to_dense(x)


def convert_to_numpy(x):
    """Return a tensor's numbers as an array of NumPy."""
    import numpy as np
    from dragon.vm.shared.tensors.slices import IndexedSlices
    x = convert_to_tensor(x) if isinstance(x, IndexedSlices) else dense_of(x)
    if isinstance(x, _C.Tensor):
        return x.numpy()
    return np.array(x)


def shape(x):
    """Return the sizes of a tensor as a tuple."""
    if hasattr(x, "shape"):
        return tuple(x.shape)
    return tuple(convert_to_tensor(x).shape)
