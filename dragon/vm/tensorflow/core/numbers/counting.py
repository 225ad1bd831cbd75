"""Counts as sparse tensors, and products of matrices at few places."""
import numpy as np

from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32, int64
from dragon.vm.shared.tensors.tensor import ops


def _rows_and_values(x, axis):
    """Return for each value the number of its row, the values, and how many rows there are, or None for one in all."""
    if isinstance(x, SparseTensor):
        places, values, sizes = x.indices.numpy(), x.values.numpy(), x.dense_shape.numpy()
        one = axis == 0 or len(sizes) == 1
        return (np.zeros(len(values), np.int64), values, None) if one else (places[:, 0], values, int(sizes[0]))
    if isinstance(x, RaggedTensor):
        values = x.flat_values.numpy()
        if axis == 0:
            return np.zeros(len(values), np.int64), values, None
        lengths = x.row_lengths().numpy()
        return np.repeat(np.arange(len(lengths)), lengths), values, len(lengths)
    array = take(x).numpy()
    if array.ndim > 2:
        raise invalid_argument(f"Input must be a 1 or 2-dimensional tensor. Received shape {array.shape}")
    if axis == 0 or array.ndim < 2:
        return np.zeros(array.size, np.int64), array.reshape(-1), None
    return np.repeat(np.arange(len(array)), array.shape[1]), array.reshape(-1), len(array)


def _weights_of(weights, values):
    if weights is None:
        return None
    array = (weights.values if isinstance(weights, SparseTensor) else
             weights.flat_values if isinstance(weights, RaggedTensor) else take(weights)).numpy().reshape(-1)
    if len(array) != len(values):
        raise ValueError(f"tf.sparse.bincount: got {len(array)} weights, expected one for each of {len(values)} values")
    return array


def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """Return how often each number from 0 occurs, or the sums of its weights, without those that never do.

    Parameters
    ----------
    values : Union[Tensor, SparseTensor, RaggedTensor]
        Whole numbers from 0.
    weights : Union[Tensor, SparseTensor, RaggedTensor], optional
        What each occurrence counts; of the same kind as the values.
    axis : int, optional, default=0
        0 or None counts all together, -1 each row alone.
    minlength, maxlength : int, optional
        How many numbers there are at least and at most; greater ones are left out.
    binary_output : bool, optional, default=False
        Whether only occurring is told; there are no weights then.

    Returns
    -------
    SparseTensor
        The counts, in the dtype of the weights or else of the values.

    """
    if binary_output and weights is not None:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    axis = 0 if axis is None else axis
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    for word, size in (("minlength", minlength), ("maxlength", maxlength)):
        if size is not None and int(size) < 0:
            raise invalid_argument(f"tf.sparse.bincount: got {word}={size}, expected none or more")
    rows, numbers, count = _rows_and_values(values, axis)
    if numbers.dtype.kind not in "iu":
        raise invalid_argument(f"tf.sparse.bincount: got values of dtype {numbers.dtype}, expected int32 or int64")
    if len(numbers) and numbers.min() < 0:
        raise invalid_argument("Input values must all be non-negative")
    amounts = _weights_of(weights, numbers)
    width = max(int(numbers.max()) + 1 if len(numbers) else 0, int(minlength or 0))
    if maxlength is not None:
        width = int(maxlength)
        kept = numbers < width
        rows, numbers, amounts = rows[kept], numbers[kept], None if amounts is None else amounts[kept]
    keys, place, counts = np.unique(np.stack([rows, numbers.astype(np.int64)], -1), axis=0, return_inverse=True,
                                    return_counts=True)
    if amounts is not None:
        counts = np.zeros(len(keys), amounts.dtype)
        np.add.at(counts, place.reshape(-1), amounts)
    counts = np.ones_like(counts) if binary_output else counts
    dtype = (numbers if amounts is None else amounts).dtype
    sizes = [width] if count is None else [count, width]
    places = keys[:, 1:] if count is None else keys
    return SparseTensor(convert_to_tensor(places.astype(np.int64)), convert_to_tensor(counts.astype(dtype)),
                        convert_to_tensor(sizes, int64))


def sampled_addmm(indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=float32):
    """Return beta * values + alpha * (mat1 @ mat2), at the places of the values alone.

    Parameters
    ----------
    indices : Tensor
        The places, a row each.
    values : Tensor
        What stands there.
    dense_shape : Tensor
        The sizes of the product.
    mat1, mat2 : Tensor
        Matrices, or batches of them.
    beta, alpha : float, optional, default=1
        What both sides are multiplied with.
    output_type : DType, optional, default="float32"
        In which is computed.

    Returns
    -------
    Tuple[Tensor, Tensor, Tensor]
        The places, the numbers and the sizes.

    """
    dtype = as_dtype(output_type)
    indices, dense_shape = take(indices), take(dense_shape)
    values, left, right = (ops.cast(take(x), dtype) for x in (values, mat1, mat2))
    rank = indices.shape[-1]
    if left.shape[-1] != right.shape[-2] or left.ndim != rank or right.ndim != rank:
        raise invalid_argument(f"tf.sparse.sampled_addmm: got matrices of shapes {tuple(left.shape)} and "
                               f"{tuple(right.shape)} for places of {rank} axes, expected matrices that fit")
    *batch, row, column = ops.unbind(ops.cast(indices, "int64"), -1)

    def lines(matrix, place):
        """Return the line of a matrix for each place."""
        flat, at = ops.reshape(matrix, (-1, matrix.shape[-1])), place
        scale = matrix.shape[-2]
        for size, number in zip(reversed(matrix.shape[:-2]), reversed(batch)):
            at = at + number * scale
            scale *= size
        return ops.index_select(flat, 0, at)
    product = ops.sum(lines(left, row) * lines(ops.matrix_transpose(right), column), -1)
    return indices, alpha * product + beta * values, dense_shape
