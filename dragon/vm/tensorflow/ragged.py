"""`tf.ragged`: tensors whose rows differ in length."""
from builtins import range as _steps

from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core.convert import convert_to_tensor as _convert
from dragon.vm.tensorflow.core.data.rows import wrap_array as _wrap_array
from dragon.vm.tensorflow.core.dtypes import as_dtype as _as_dtype
from dragon.vm.tensorflow.core.errors import invalid_argument as _invalid_argument
from dragon.vm.tensorflow.core.ragged import RaggedTensor
from dragon.vm.tensorflow.core.ragged_make import _from_lengths, take_rows as _take_rows

__getattr__, __dir__ = _lookup(globals(), {
    "core.ragged": "RaggedTensorSpec", "core.ragged_math": "boolean_mask map_flat_values stack"})
_AXES = 254  # that TensorFlow's shapes have at most


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype="int64"):
    """Return nested lists as a ragged tensor.

    Parameters
    ----------
    pylist : Sequence
        Nested lists of one depth.
    dtype : DType, optional
        The dtype of the values.
    ragged_rank : int, optional
        How many axes are ragged; all but the innermost by default.
    inner_shape : Sequence[int], optional
        The sizes of the axes within the ragged ones.
    name : str, optional
        Not used.
    row_splits_dtype : DType, optional, default=int64
        The dtype of the places where rows end.

    """
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(depth - 1, 0) if inner_shape is None else max(depth - len(tuple(inner_shape)) - 1, 0)
    if not 0 <= ragged_rank < _AXES:
        raise ValueError(f"ragged.constant: got ragged_rank={ragged_rank}, expected 0 to {_AXES - 1}")
    if depth and ragged_rank >= depth:
        if _empty(pylist):
            depth = ragged_rank + 1
        else:
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    if depth == 0 or ragged_rank == 0:
        return _convert(pylist, dtype=dtype)
    return _build(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype)


def _build(pylist, dtype, ragged_rank, inner_shape, splits_dtype):
    """Return nested lists as a ragged tensor of a rank."""
    partitions, level = [], list(pylist)
    for _ in _steps(ragged_rank):
        for row in level:
            if not isinstance(row, (list, tuple)) and not hasattr(row, "__len__"):
                raise ValueError(f"Invalid pylist={pylist}: scalars and lists stand side by side")
        partitions.append([len(row) for row in level])
        level = [item for row in level for item in row]
    values = _convert(level, dtype=dtype or (None if level else "float32"))
    if inner_shape is not None and tuple(inner_shape):
        from dragon.vm.tensorflow.core.tensor import ops
        values = ops.reshape(values, [int(values.shape[0]), *inner_shape])
    for lengths in reversed(partitions):
        values = _from_lengths(values, lengths, _as_dtype(splits_dtype))
    return values


def _depth(value):
    """Return how deep lists are nested; raise where depths differ."""
    if not isinstance(value, (list, tuple)) and not (hasattr(value, "ndim") and value.ndim):
        return 0
    depths = {_depth(item) for item in value}
    filled = {depth for depth, item in ((_depth(item), item) for item in value)
              if not (isinstance(item, (list, tuple)) and _empty(item))}
    if len(filled) > 1 or (0 in filled and len(depths) > 1):
        raise ValueError(f"all scalar values must have the same nesting depth. Received: {value}")
    return 1 + max(depths, default=0)


def _empty(value):
    """Return whether nested lists hold no value."""
    return all(isinstance(item, (list, tuple)) and _empty(item) for item in value)


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype="int64"):
    """Return rows of evenly spaced numbers.

    Parameters
    ----------
    starts : Tensor
        The first numbers; the limits if those are not given.
    limits : Tensor, optional
        Before which numbers end.
    deltas : Tensor, optional, default=1
        The steps.
    dtype : DType, optional
        The dtype of the numbers.
    name : str, optional
        Not used.
    row_splits_dtype : DType, optional, default=int64
        The dtype of the places where rows end.

    """
    import numpy as np
    if limits is None:
        starts, limits = 0, starts
    given = [_convert(one) for one in (starts, limits, deltas)]
    kinds = [one.dtype for one in given if one.dtype.is_floating] or [one.dtype for one in given]
    widest = _as_dtype(dtype) if dtype is not None else max(kinds, key=lambda kind: kind.size)
    rows = np.broadcast_arrays(*[np.atleast_1d(one.numpy()) for one in given])
    if (rows[2] == 0).any():
        raise _invalid_argument("Requires delta != 0 [Op:RaggedRange]")
    parts = [np.arange(*bounds) for bounds in zip(*(row.tolist() for row in rows))]
    values = np.concatenate([np.arange(0), *parts]).astype(widest.as_numpy_dtype)
    return _from_lengths(_wrap_array(values), [len(part) for part in parts], _as_dtype(row_splits_dtype))


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """Return the number of the row of each value, given where rows end."""
    import numpy as np
    splits = _convert(splits, dtype_hint="int64")
    array = splits.numpy()
    numbers = np.repeat(np.arange(len(array) - 1), array[1:] - array[:-1])
    return _wrap_array(numbers.astype(_as_dtype(out_type or splits.dtype).as_numpy_dtype))


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Return where rows end, given the number of the row of each value."""
    import numpy as np
    numbers = _convert(segment_ids, dtype_hint="int64")
    counts = np.bincount(numbers.numpy(), minlength=0 if num_segments is None else int(num_segments))
    kind = _as_dtype(out_type or numbers.dtype).as_numpy_dtype
    return _wrap_array(np.concatenate([[0], np.cumsum(counts)]).astype(kind))


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """Return the values of each partition as a row."""
    import numpy as np
    data = data if isinstance(data, RaggedTensor) else _convert(data)
    numbers = partitions.flat_values if isinstance(partitions, RaggedTensor) else _convert(partitions)
    if not numbers.dtype.is_integer:
        raise TypeError(f"stack_dynamic_partitions: got partitions={partitions!r}, expected integers")
    array = numbers.numpy().reshape(-1)
    if isinstance(partitions, RaggedTensor):
        data = data.flat_values
    counts = np.bincount(array, minlength=int(num_partitions))
    return _from_lengths(_take_rows(data, np.argsort(array, kind="stable")), counts, _as_dtype("int64"))
