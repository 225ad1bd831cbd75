"""Arrays of all kinds as tensors."""
import sys

from dragon import _C
from dragon.vm.keras.core import config

_SHARED = frozenset(("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))


def _is_of(value, package, name):
    module = sys.modules.get(package)
    kind = getattr(module, name, None)
    return kind is not None and isinstance(value, kind)


def is_scipy_sparse(value):
    """Return whether a value is a sparse matrix of SciPy's."""
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


class SparseRows:
    """A sparse matrix of SciPy's, of which each batch becomes a dense tensor: zeros fill no more memory than that.

    Parameters
    ----------
    matrix : Union[scipy.sparse.spmatrix, scipy.sparse.sparray, SparseRows]
        The matrix.

    """

    def __init__(self, matrix):
        self.matrix = matrix.matrix if isinstance(matrix, SparseRows) else matrix.tocsr()

    shape = property(lambda self: self.matrix.shape, doc="The matrix's sizes.")
    dtype = property(lambda self: self.matrix.dtype, doc="The matrix's dtype.")

    def __getitem__(self, rows):
        return SparseRows(self.matrix[rows])

    def dense(self, rows):
        """Return some rows as a tensor; floating numbers in the dtype that Keras computes in."""
        return to_tensor(self.matrix[rows if isinstance(rows, slice) else rows.numpy()].toarray(), to_floatx=True)


def is_array(value):
    """Return whether a value is an array of some kind, which can be taken apart into samples."""
    return (value is None or isinstance(value, _C.Tensor) or hasattr(value, "__array__") or is_scipy_sparse(value)
            or isinstance(value, SparseRows) or is_host_tensor(value) or _is_sparse_tensor(value))


def _is_sparse_tensor(value):
    return type(value).__name__ == "SparseTensor" and hasattr(value, "dense_shape")


def is_host_tensor(value):
    """Return whether a value is a tensor of strings, or one with rows of several lengths."""
    return type(value).__name__ in ("StringTensor", "RaggedTensor") and hasattr(value, "shape")


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
    if value is None or is_host_tensor(value):
        return value
    if is_scipy_sparse(value) or isinstance(value, SparseRows):
        return SparseRows(value) if to_floatx else SparseRows(value).dense(slice(None))
    if _is_sparse_tensor(value):
        from dragon.vm.shared.sparse.math import to_dense
        value = to_dense(value)
    tensor = _as_tensor(value if isinstance(value, _C.Tensor) else _to_numpy(value, to_floatx), shares=to_floatx)
    if to_floatx and isinstance(tensor, _C.Tensor) and tensor.dtype.is_floating:
        floatx = config.floatx()
        if tensor.dtype.name != floatx:
            from dragon.vm.keras.core.convert import convert_to_tensor as convert
            tensor = convert(tensor, dtype=floatx)
    return tensor


def _as_tensor(value, shares):
    """Return a tensor or an array as a tensor; where wanted, upon the array's own memory, which is only read."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor, default_device
    shares = shares and not isinstance(value, _C.Tensor) and value.dtype.isnative and (
        value.dtype.name in _SHARED and value.flags.c_contiguous)
    if shares and default_device().type == "cpu":
        from dragon.vm.shared.tensors.tensor import Tensor
        return _C.from_buffer(value, Tensor)
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
