"""`tf.sparse`: tensors of which only the values that are not zero are held."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared import errors as _errors
from dragon.vm.shared.data.rows import array_of as _array_of, wrap_array as _wrap_array
from dragon.vm.shared.sparse import math as _math
from dragon.vm.shared.sparse.tensor import SparseTensor, take as _take
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.shared.tensors.dtypes import as_dtype as _as_dtype
from dragon.vm.shared.tensors.tensor import ops as _ops

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.shared.sparse.tensor": "SparseTensorSpec",
    "core.numbers.counting": "bincount sampled_addmm",
    "core.text.crossing": "cross=cross_sparse cross_hashed=cross_sparse_hashed"})


def add(a, b, threshold=0):
    """Return the sum of two tensors of which one or both are sparse; small sums may be left out."""
    return _math.add(a, b, threshold)


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Return sparse tensors one after the other along an axis."""
    return _math.concat(list(sp_inputs), axis, expand_nonconcat_dims)


def expand_dims(sp_input, axis=None, name=None):
    """Return the same values in a box with a further axis of size 1."""
    return _math.expand_dims(_math.check(sp_input, "expand_dims"), axis)


def eye(num_rows, num_columns=None, dtype="float32", name=None):
    """Return a sparse matrix with ones on its diagonal."""
    import numpy as np
    columns = int(num_rows if num_columns is None else num_columns)
    numbers = np.arange(min(int(num_rows), columns), dtype=np.int64)
    ones = _ops.ones([len(numbers)], dtype=_as_dtype(dtype))
    return SparseTensor(_wrap_array(np.stack([numbers, numbers], 1)), ones,
                        [int(num_rows), columns])


def fill_empty_rows(sp_input, default_value, name=None):
    """Return (a sparse tensor with a default value in each row that had none, which rows those were)."""
    import numpy as np
    sparse = _math.check(sp_input, "fill_empty_rows")
    places = sparse._places()
    empty = np.bincount(places[:, 0], minlength=sparse._sizes[0]) == 0
    added = np.zeros((int(empty.sum()), sparse.ndim), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    default = _convert(default_value, dtype=sparse.dtype)
    values = _convert([default.numpy()] * len(added), dtype=sparse.dtype) if len(added) else _take(sparse.values, [])
    filler = SparseTensor(_wrap_array(added), values, sparse._sizes)
    joined = SparseTensor(_wrap_array(np.concatenate([places, added])), _math.join_values([sparse, filler]),
                          sparse._sizes)
    return _math.reorder(joined), _wrap_array(empty)


def from_dense(tensor, name=None):
    """Return the values of a dense tensor that are not zero."""
    return _math.from_dense(tensor)


def map_values(op, *args, **kwargs):
    """Return what a function gives for the values of sparse tensors that have the same places."""
    sparse = [value for value in [*args, *kwargs.values()] if isinstance(value, SparseTensor)]
    for other in sparse[1:]:
        if other._sizes != sparse[0]._sizes or (other._places().shape != sparse[0]._places().shape) or (
                (other._places() != sparse[0]._places()).any()):
            raise _errors.InvalidArgumentError(None, None, "map_values: the sparse tensors must have the same places. "
                                               f"Received: {sparse[0]} and {other}")

    def inner(value):
        return value.values if isinstance(value, SparseTensor) else value
    result = op(*map(inner, args), **{name: inner(value) for name, value in kwargs.items()})
    return sparse[0].with_values(result) if sparse else result


def mask(a, mask_indices, name=None):
    """Return slices (`tf.IndexedSlices`) without those of some numbers."""
    import numpy as np
    from dragon.vm.shared.letters import expect
    from dragon.vm.shared.tensors.slices import IndexedSlices
    numbers = _array_of(expect(a, IndexedSlices, "mask", "a").indices)
    kept = np.flatnonzero(~np.isin(numbers, _array_of(_convert(mask_indices))))
    return IndexedSlices(_take(a.values, kept), _take(a.indices, kept), a.dense_shape)


def maximum(sp_a, sp_b, name=None):
    """Return the larger values of two sparse tensors."""
    return _math.combine(_math.check(sp_a, "maximum"), _math.check(sp_b, "maximum"), "amax")


def minimum(sp_a, sp_b, name=None):
    """Return the smaller values of two sparse tensors."""
    return _math.combine(_math.check(sp_a, "minimum"), _math.check(sp_b, "minimum"), "amin")


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Return the largest values along axes."""
    found = _math.reduce(_math.check(sp_input, "reduce_max"), axis, bool(keepdims), "max")
    return _math.from_dense(found) if output_is_sparse else found


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Return the sums along axes."""
    found = _math.reduce(_math.check(sp_input, "reduce_sum"), axis, bool(keepdims), "sum")
    return _math.from_dense(found) if output_is_sparse else found


def reorder(sp_input, name=None):
    """Return the same values in the order of their places."""
    return _math.reorder(_math.check(sp_input, "reorder"))


def reset_shape(sp_input, new_shape=None):
    """Return the same values in a larger box, or in the smallest that holds them."""
    sparse = _math.check(sp_input, "reset_shape")
    needed = (sparse._places().max(0) + 1).tolist() if len(sparse._places()) else [0] * sparse.ndim
    sizes = needed if new_shape is None else [int(size) for size in new_shape]
    if len(sizes) != sparse.ndim or new_shape is not None and any(map(int.__lt__, sizes, sparse._sizes)):
        raise ValueError(f"reset_shape: the new shape must not be smaller. Received: {sizes} for {sparse._sizes}")
    return SparseTensor(sparse.indices, sparse.values, sizes)


def reshape(sp_input, shape, name=None):
    """Return the same values in a box of other sizes."""
    return _math.reshape(_math.check(sp_input, "reshape"), shape)


def retain(sp_input, to_retain):
    """Return the values that a mask marks."""
    import numpy as np
    return _math.check(sp_input, "retain")._take(np.flatnonzero(_array_of(_convert(to_retain))))


def _segments(data, indices, segment_ids, num_segments, how):
    """Return the reduction of the rows of a tensor that indices choose, by sorted numbers of segments."""
    import numpy as np
    from dragon.vm.shared.ragged.math import segments
    numbers = _array_of(_convert(segment_ids)).astype(np.int64)
    if (numbers[1:] < numbers[:-1]).any():
        raise _errors.InvalidArgumentError(None, None, f"segment ids are not increasing. Received: {numbers.tolist()}")
    count = int(numbers[-1]) + 1 if len(numbers) else 0
    count = count if num_segments is None else int(num_segments)
    rows = _take(data if hasattr(data, "ndim") else _convert(data), _array_of(_convert(indices)))
    found = segments("reduce_sum", rows, numbers, count)
    if how == "sum":
        return found
    sizes = np.maximum(np.bincount(numbers, minlength=count), 1).reshape([count] + [1] * (len(found.shape) - 1))
    divisor = _wrap_array(sizes if how == "mean" else np.sqrt(sizes))
    return _ops.divide(found, _ops.cast(divisor, found.dtype))


def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Return the sums of chosen rows by sorted numbers of segments."""
    return _segments(data, indices, segment_ids, num_segments, "sum")


def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Return the means of chosen rows by sorted numbers of segments."""
    return _segments(data, indices, segment_ids, num_segments, "mean")


def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Return the sums of chosen rows by sorted numbers of segments, over the roots of how many there are."""
    return _segments(data, indices, segment_ids, num_segments, "sqrt_n")


def slice(sp_input, start, size, name=None):
    """Return the part of a box from places on, of sizes."""
    sparse = _math.check(sp_input, "slice")
    return _math.slice_box(sparse, _convert(start).numpy().tolist(), _convert(size).numpy().tolist())


def softmax(sp_input, name=None):
    """Return softmax along the last axis, of the values that there are."""
    import numpy as np
    sparse = _math.check(sp_input, "softmax")
    rows = sparse._flat() // sparse._sizes[-1]
    numbers = _wrap_array(np.unique(rows, return_inverse=True)[1].reshape(-1).astype(np.int64))
    count = len(np.unique(rows))
    top = _ops.index_reduce(_ops.full([count], float("-inf"), dtype=sparse.dtype), 0, numbers, sparse.values, "amax")
    powers = _ops.exp(_ops.sub(sparse.values, _ops.index_select(top, 0, numbers)))
    total = _ops.index_add(_ops.zeros([count], dtype=sparse.dtype), 0, numbers, powers)
    return sparse.with_values(_ops.divide(powers, _ops.index_select(total, 0, numbers)))


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """Return the product of a sparse matrix and a dense one, in either order."""
    return _math.matmul(sp_a, b, adjoint_a, adjoint_b)


def split(sp_input=None, num_split=None, axis=None, name=None):
    """Return the parts of a box cut along an axis."""
    return _math.split(_math.check(sp_input, "split"), num_split, axis)


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """Return a dense tensor with the values at their places."""
    return _math.to_dense(_math.check(sp_input, "to_dense"), default_value, validate_indices)


def to_indicator(sp_input, vocab_size, name=None):
    """Return a dense tensor of bools: for each row, which numbers are among its values."""
    import numpy as np
    sparse = _math.check(sp_input, "to_indicator")
    found = np.zeros([*sparse._sizes[:-1], int(vocab_size)], bool)
    found[(*sparse._places()[:, :-1].T, _array_of(sparse.values))] = True
    return _wrap_array(found)


def transpose(sp_input, perm=None, name=None):
    """Return the same values in a box whose axes are in another order."""
    return _math.transpose(_math.check(sp_input, "transpose"), perm)
