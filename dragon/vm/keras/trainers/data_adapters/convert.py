"""Arrays of all kinds as tensors."""
import sys

from dragon import _C
from dragon.vm.keras.core import config
from dragon.vm.keras.core.convert import convert_to_tensor as convert, is_parted

_SHARED = frozenset(("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))


def _is_of(value, package, name):
    module = sys.modules.get(package)
    kind = getattr(module, name, None)
    return kind is not None and isinstance(value, kind)


def is_scipy_sparse(value):
    """Return whether a value is a sparse matrix of SciPy's."""
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


def is_array(value):
    """Return whether a value is an array of some kind, which can be taken apart into samples."""
    return (value is None or isinstance(value, _C.Tensor) or hasattr(value, "__array__") or is_scipy_sparse(value)
            or is_host_tensor(value))


def is_host_tensor(value):
    """Return whether a value is a tensor of strings, one with rows of several lengths, or one mostly of zeros."""
    return getattr(type(value), "is_string_tensor", False) or is_parted(value)


def to_tensor(value, to_floatx=False):
    """Return an array as a tensor.

    Parameters
    ----------
    value : Any
        Numbers or strings; None and tensors stay what they are.
    to_floatx : bool, optional, default=False
        Whether floating-point numbers get Keras's dtype.

    Returns
    -------
    Optional[Tensor]
        A tensor.

    """
    if value is None or getattr(type(value), "is_string_tensor", False):
        return value
    if is_scipy_sparse(value):
        value = _sparse_tensor(value)
    if is_parted(value):
        wide = to_floatx and value.dtype.is_floating
        return convert(value, dtype=config.floatx()) if wide else value
    tensor = _as_tensor(value if isinstance(value, _C.Tensor) else _to_numpy(value, to_floatx), shares=to_floatx)
    if to_floatx and isinstance(tensor, _C.Tensor) and tensor.dtype.is_floating:
        floatx = config.floatx()
        if tensor.dtype.name != floatx:
            tensor = convert(tensor, dtype=floatx)
    return tensor


def _sparse_tensor(matrix):
    """Return a sparse matrix of SciPy's as a tensor, its values in the order of their places."""
    import numpy
    from dragon.vm.shared.sparse.tensor import SparseTensor
    matrix = matrix.tocsr().tocoo()
    places = numpy.stack([matrix.row, matrix.col], 1).astype(numpy.int64)
    return SparseTensor(places[order := numpy.lexsort(places.T[::-1])], matrix.data[order], matrix.shape)


def _as_tensor(value, shares):
    """Return a tensor or an array as a tensor; where wanted, upon the array's own memory, which is only read."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    from dragon.vm.shared.tensors.placing import on_host
    shares = shares and not isinstance(value, _C.Tensor) and value.dtype.isnative and (
        value.dtype.name in _SHARED and value.flags.c_contiguous)
    if shares:
        from dragon.vm.shared.tensors.tensor import Tensor
        return _C.from_buffer(value, Tensor)
    with on_host():
        return convert_to_tensor(value)


def _to_numpy(value, to_floatx):
    """Return an array of NumPy's; a column of a table has two axes."""
    import numpy
    if _is_of(value, "pandas", "Series"):
        value = value.to_numpy()[:, None]
    elif _is_of(value, "pandas", "DataFrame"):
        value = value.to_numpy()
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu()
    array = numpy.asarray(value)
    if to_floatx and array.dtype.kind == "f" and array.dtype.name != config.floatx():
        array = array.astype(config.floatx())
    return array
