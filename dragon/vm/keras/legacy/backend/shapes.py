"""Tensors cut, joined, repeated, multiplied and asked for their shapes."""
import math as _math

from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core.config import floatx as _floatx
from dragon.vm.keras.core.convert import convert_to_tensor as _tensor
from dragon.vm.keras.core.dtypes import standardize_dtype as _standardize
from dragon.vm.keras.core.keras_tensor import KerasTensor as _KerasTensor


def arange(start, stop=None, step=1, dtype="int32"):
    """Return numbers with equal steps between; none where there is a negative end alone. ..."""
    return _ops.arange(*((0, max(start, 0)) if stop is None else (start, stop)), step, dtype=dtype)


def batch_flatten(x):
    """Return a matrix with a row for each sample."""
    return _ops.reshape(x, (-1, _math.prod(x.shape[1:])))


def cast(x, dtype):
    """Return a tensor of a dtype. ..."""
    return _ops.cast(x, dtype)


def cast_to_floatx(x):
    """Return a tensor, or an array of what is none, of the configured dtype."""
    import numpy

    from dragon.vm.keras.core.convert import is_tensor
    return _ops.cast(x, _floatx()) if is_tensor(x) else numpy.asarray(x, dtype=_floatx())


def concatenate(tensors, axis=-1):
    """Return tensors behind each other. ..."""
    return _ops.concatenate(tensors, axis=axis)


def count_params(x):
    """Return how many elements there are."""
    return _math.prod(x.shape)


def dtype(x):
    """Return the name of the dtype."""
    return _standardize(x.dtype)


def expand_dims(x, axis=-1):
    """Return a tensor with an axis of size 1 more. ..."""
    return _ops.expand_dims(x, axis)


def flatten(x):
    """Return all elements in a row."""
    return _ops.reshape(x, (-1,))


def gather(reference, indices):
    """Return slices along the first axis."""
    return _ops.take(reference, indices, axis=0)


def int_shape(x):
    """Return the shape as a tuple."""
    return tuple(x.shape)


def is_sparse(tensor):
    """Return whether a tensor holds only what is not zero."""
    from dragon.vm.shared.sparse.tensor import SparseTensor
    return isinstance(tensor, SparseTensor)


def ndim(x):
    """Return how many axes there are."""
    return len(x.shape)


def one_hot(indices, num_classes):
    """Return vectors with a one at each index."""
    return _ops.one_hot(indices, num_classes)


def ones_like(x, dtype=None, name=None):
    """Return ones of a tensor's shape. ..."""
    return _ops.ones_like(x, dtype=dtype)


def zeros_like(x, dtype=None, name=None):
    """Return zeros of a tensor's shape. ..."""
    return _ops.zeros_like(x, dtype=dtype)


def permute_dimensions(x, pattern):
    """Return a tensor whose axes have another order."""
    return _ops.transpose(x, tuple(pattern))


def repeat(x, n):
    """Return a matrix's rows n times, along an axis between its two."""
    if ndim(x) != 2:
        raise ValueError(f"Expected input `x` to have rank 2. Received: rank(x)={ndim(x)}")
    return _ops.tile(_ops.expand_dims(x, 1), (1, n, 1))


def repeat_elements(x, rep, axis):
    """Return each slice along an axis several times. ..."""
    return _ops.repeat(x, rep, axis=axis)


def reshape(x, shape):
    """Return a tensor of another shape. ..."""
    return _ops.reshape(x, tuple(shape))


def reverse(x, axes):
    """Return a tensor in the opposite order along axes."""
    return _ops.flip(x, axis=axes)


def shape(x):
    """Return the shape as a tensor; of symbolic tensors, as a tuple."""
    return tuple(x.shape) if isinstance(x, _KerasTensor) else _tensor(list(x.shape), dtype="int32")


def squeeze(x, axis):
    """Return a tensor without an axis of size 1. ..."""
    return _ops.squeeze(x, axis)


def stack(x, axis=0):
    """Return tensors along a new axis. ..."""
    return _ops.stack(x, axis=axis)


def tile(x, n):
    """Return a tensor several times along its axes."""
    return _ops.tile(x, (n,) if isinstance(n, int) else tuple(n))


def to_dense(tensor):
    """Return a tensor with all of its elements."""
    from dragon.vm.keras.core.convert import dense_of
    return dense_of(tensor) if is_sparse(tensor) else tensor


def transpose(x):
    """Return a tensor whose axes have the opposite order."""
    return _ops.transpose(x)


def dot(x, y):
    """Return products over the last axis of one tensor and the last but one of the other."""
    x, y = (item if isinstance(item, _KerasTensor) else _tensor(item) for item in (x, y))
    return _ops.matmul(x, y) if ndim(x) <= 2 and ndim(y) <= 2 else _ops.tensordot(x, y, ((-1,), (ndim(y) - 2,)))


def batch_dot(x, y, axes=None):
    """Return products over an axis of either tensor, sample by sample.

    Parameters
    ----------
    x, y : Tensor
        As many samples.
    axes : Union[int, Tuple[int, int]], optional
        The axes; by default the last of one, and the last but one of the other.

    """
    counts = ndim(x), ndim(y)
    if min(counts) < 2:
        raise ValueError("Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes "
                         f"{tuple(x.shape)} and {tuple(y.shape)}.")
    axes = [counts[0] - 1, counts[1] - (1 if counts[1] == 2 else 2)] if axes is None else axes
    axes = [axes, axes] if isinstance(axes, int) else list(axes)
    if any(isinstance(axis, (list, tuple)) for axis in axes):
        raise ValueError("Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: "
                         f"{axes}")
    axes = [axis + count if axis < 0 else axis for axis, count in zip(axes, counts)]
    if 0 in axes:
        raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                         "dimension to your inputs using K.expand_dims(x, 0)")
    sizes = x.shape[axes[0]], y.shape[axes[1]]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(f"Cannot do batch_dot on inputs with shapes {tuple(x.shape)} and {tuple(y.shape)} with "
                         f"axes={axes}. x.shape[{axes[0]}] != y.shape[{axes[1]}] ({sizes[0]} != {sizes[1]}).")
    first, second = "abcdefghijkl"[:counts[0]], "ANOPQRSTUVWX"[:counts[1]].replace("A", "a")
    second = second[:axes[1]] + first[axes[0]] + second[axes[1] + 1:]
    left = first.replace(first[axes[0]], "") + second[1:].replace(first[axes[0]], "")
    made = _ops.einsum(f"{first},{second}->{left}", x, y)
    return _ops.expand_dims(made, 1) if counts == (2, 2) else made
