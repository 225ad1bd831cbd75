"""`tf.ragged`: tensors whose rows differ in length."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.data.rows import wrap_array as _wrap_array
from dragon.vm.shared.errors import invalid_argument as _invalid_argument
from dragon.vm.shared.ragged.making import _from_lengths, take_rows as _take_rows
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.shared.tensors.dtypes import as_dtype as _as_dtype

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.shared.ragged.tensor": "RaggedTensorSpec",
    "core.text.crossing": "cross=cross_ragged cross_hashed=cross_ragged_hashed",
    "dragon.vm.shared.ragged.lists": "constant",
    "dragon.vm.shared.ragged.math": "boolean_mask map_flat_values stack"})


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
    return _from_lengths(_take_rows(data, np.argsort(array, kind="stable")), counts, numbers.dtype)
