"""Functions that make ragged tensors, cut them, and turn them into dense ones."""
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.ragged import later
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import ops


def _class():
    return later.ragged_class[0]()


def _values(values):
    return values if isinstance(values, _class()) else convert_to_tensor(values)


def _integers(value, who):
    """Return (an int64 array, the dtype) of row splits, lengths or numbers."""
    import numpy as np
    dtype = as_dtype("int32") if getattr(getattr(value, "dtype", None), "name", None) == "int32" else as_dtype("int64")
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{who}: expected integers. Received: {value!r}")
    return array.astype(np.int64), dtype


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def from_row_splits(values, row_splits, name=None, validate=True):
    """Return the rows between consecutive places in `values`."""
    splits, dtype = _integers(row_splits, "row_splits")
    values = _values(values)
    if splits.ndim != 1 or not len(splits):
        raise ValueError(f"row_splits may not be empty. Received: {row_splits!r}")
    if validate:
        if splits[0] != 0:
            raise _invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: row_splits must begin with "
                           f"0. Received: {splits.tolist()}")
        if (splits[1:] < splits[:-1]).any() or splits[-1] != int(values.shape[0]):
            raise _invalid("Arguments to from_row_splits do not form a valid RaggedTensor: row_splits must increase up "
                           f"to the number of values, {values.shape[0]}. Received: {splits.tolist()}")
    return _class()._of(values, splits, dtype)


def _from_lengths(values, lengths, dtype, uniform=None):
    import numpy as np
    return _class()._of(values, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), dtype, uniform)


def from_row_lengths(values, row_lengths, name=None, validate=True):
    """Return rows of these lengths of `values`."""
    lengths, dtype = _integers(row_lengths, "row_lengths")
    values = _values(values)
    if validate and ((lengths < 0).any() or lengths.sum() != int(values.shape[0])):
        raise _invalid("Arguments to from_row_lengths do not form a valid RaggedTensor: row_lengths must be >= 0 and "
                       f"sum to the number of values, {values.shape[0]}. Received: {lengths.tolist()}")
    return _from_lengths(values, lengths, dtype)


def from_row_starts(values, row_starts, name=None, validate=True):
    """Return rows that begin at these places in `values`."""
    import numpy as np
    starts, dtype = _integers(row_starts, "row_starts")
    values = _values(values)
    made = from_row_splits(values, np.concatenate([starts, [int(values.shape[0])]]), validate=validate)
    return _class()._of(values, made._splits, dtype)


def from_row_limits(values, row_limits, name=None, validate=True):
    """Return rows that end at these places in `values`."""
    import numpy as np
    limits, dtype = _integers(row_limits, "row_limits")
    made = from_row_splits(values, np.concatenate([[0], limits]), validate=validate)
    return _class()._of(made._values, made._splits, dtype)


def from_value_rowids(values, value_rowids, nrows=None, name=None, validate=True):
    """Return rows of `values` by the number of the row of each value."""
    import numpy as np
    numbers, dtype = _integers(value_rowids, "value_rowids")
    values = _values(values)
    count = (int(numbers[-1]) + 1 if len(numbers) else 0) if nrows is None else int(nrows)
    if validate and (len(numbers) != int(values.shape[0]) or (numbers[1:] < numbers[:-1]).any() or (
            len(numbers) and (numbers[0] < 0 or numbers[-1] >= count))):
        raise _invalid("Arguments to from_value_rowids do not form a valid RaggedTensor: value_rowids must increase, "
                       f"stay below nrows={count} and be as many as values. Received: {numbers.tolist()}")
    return _from_lengths(values, np.bincount(numbers, minlength=count), dtype)


def from_uniform_row_length(values, uniform_row_length, nrows=None, validate=True, name=None):
    """Return rows of one length of `values`."""
    import numpy as np
    values, length = _values(values), int(uniform_row_length)
    total = int(values.shape[0])
    count = int(nrows) if nrows is not None else total // length if length else 0
    if validate and count * length != total:
        raise _invalid("Arguments to from_uniform_row_length do not form a valid RaggedTensor: the number of values "
                       f"({total}) is not nrows * uniform_row_length ({count} * {length}).")
    dtype = _integers(uniform_row_length, "uniform_row_length")[1]
    return _from_lengths(values, np.full(count, length), dtype, length)


def from_nested_row_splits(flat_values, nested_row_splits, name=None, validate=True):
    """Return rows of rows of `flat_values` by the row splits of all ragged axes."""
    return _nest(from_row_splits, flat_values, nested_row_splits, validate)


def from_nested_row_lengths(flat_values, nested_row_lengths, name=None, validate=True):
    """Return rows of rows of `flat_values` by the row lengths of all ragged axes."""
    return _nest(from_row_lengths, flat_values, nested_row_lengths, validate)


def _nest(make, flat_values, partitions, validate):
    if not isinstance(partitions, (list, tuple)):
        raise TypeError(f"expected a list of the partitions of the ragged axes. Received: {partitions!r}")
    values = _values(flat_values)
    for partition in reversed(partitions):
        values = make(values, partition, validate=validate)
    return values


def from_nested_value_rowids(flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
    """Return rows of rows of `flat_values` by the row numbers of all ragged axes."""
    values = _values(flat_values)
    counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
    for numbers, count in zip(reversed(nested_value_rowids), reversed(list(counts))):
        values = from_value_rowids(values, numbers, count, validate=validate)
    return values


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype="int64"):
    """Return a dense tensor's rows, cut to lengths or to what stands before a padding."""
    import numpy as np
    tensor, dtype = convert_to_tensor(tensor), as_dtype(row_splits_dtype)
    shape = list(tensor.shape)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if ragged_rank < 1 or ragged_rank >= len(shape):
        raise ValueError(f"ragged_rank must be greater than zero and less than the rank. Received: {ragged_rank} for "
                         f"shape {tensor.shape}")
    if isinstance(lengths, (list, tuple)) and lengths and isinstance(lengths[0], (list, tuple)):
        raise NotImplementedError(f"from_tensor: nested lengths are not supported. Received: {lengths!r}")
    if padding is not None:
        lengths = _lengths_before(array_of(tensor), array_of(convert_to_tensor(padding, dtype=tensor.dtype)),
                                  ragged_rank)
    outer = int(np.prod(shape[:ragged_rank]))
    flat = _reshape(tensor, [outer * shape[ragged_rank], *shape[ragged_rank + 1:]])
    if lengths is None:
        values = _from_lengths(flat, np.full(outer, shape[ragged_rank]), dtype)
    else:
        lengths = np.clip(_integers(lengths, "lengths")[0], 0, shape[ragged_rank])
        marked = np.arange(shape[ragged_rank]) < lengths[:, None]
        values = _from_lengths(take_rows(flat, np.flatnonzero(marked)), lengths, dtype)
    for axis in range(ragged_rank - 1, 0, -1):
        values = _from_lengths(values, np.full(int(np.prod(shape[:axis])), shape[axis]), dtype)
    return values


def _lengths_before(array, padding, ragged_rank):
    """Return how many entries of each row stand before the padding that ends it."""
    import numpy as np
    differs = array != padding
    axes = tuple(range(ragged_rank + 1, array.ndim))
    differs = np.any(differs, axis=axes) if axes else differs
    differs = differs.reshape(int(np.prod(differs.shape[:-1])), differs.shape[-1])
    return (differs * np.arange(1, differs.shape[1] + 1)).max(axis=1, initial=0)


def from_sparse(st_input, name=None, row_splits_dtype="int64"):
    """Return the rows of a sparse matrix whose values stand without gaps."""
    import numpy as np
    places = array_of(st_input.indices)
    if places.shape[1] != 2:
        raise ValueError(f"rank must be 2. Received: a sparse tensor of shape {st_input.shape}")
    made = from_value_rowids(st_input.values, places[:, 0], int(st_input.dense_shape[0]))
    within = np.arange(len(places)) - made._splits[places[:, 0]]
    if (within != places[:, 1]).any():
        raise _invalid("from_sparse: the values of a row must stand without gaps. "
                       f"Received: places {places.tolist()}")
    return _class()._of(made._values, made._splits, as_dtype(row_splits_dtype))


def _reshape(tensor, shape):
    if isinstance(tensor, StringTensor):
        return over_strings(tensor._array.reshape(shape))
    return ops.reshape(tensor, shape)


def take_rows(values, rows):
    """Return the rows of a tensor, ragged or not, at the places in an array."""
    import numpy as np
    if isinstance(values, StringTensor):
        return over_strings(values._array[rows])
    if not isinstance(values, _class()):
        return ops.index_select(values, 0, wrap_array(np.asarray(rows, np.int64)))
    lengths = values._lengths()[rows]
    return _from_lengths(take_rows(values._values, ranges(values._splits[:-1][rows], lengths)), lengths,
                         values._splits_dtype, values._uniform)


def ranges(starts, lengths):
    """Return the numbers from each start on, as many as its length, one after the other."""
    import numpy as np
    total = int(lengths.sum())
    begins = np.cumsum(lengths) - lengths
    return np.arange(total) - np.repeat(begins, lengths) + np.repeat(starts, lengths)


def get_item(ragged, key):
    """Return a part of a ragged tensor."""
    import numpy as np
    key = key if isinstance(key, tuple) else (key,)
    key = tuple(int(part) if getattr(part, "ndim", None) == 0 and hasattr(part, "dtype") else part for part in key)
    if Ellipsis in [part for part in key if not hasattr(part, "shape")]:
        at = key.index(Ellipsis)
        key = key[:at] + (slice(None),) * (ragged.ndim - len(key) + 1) + key[at + 1:]
    row, rest = key[0], key[1:]
    count = len(ragged)
    if isinstance(row, slice):
        kept = ragged if row == slice(None) else take_rows(ragged, np.arange(count)[_plain(row)])
        return _cut_rows(kept, rest) if rest else kept
    if getattr(getattr(row, "dtype", None), "name", "") == "bool" or isinstance(row, list) or row is None:
        raise NotImplementedError(f"RaggedTensor: rows are chosen by integers and slices. Received: {row!r}")
    row = int(row)
    if not -count <= row < count:
        raise _invalid(f"slice index {row} of dimension 0 out of bounds.")
    found = ragged._values[int(ragged._splits[row % count]):int(ragged._splits[row % count + 1])]
    return found[rest] if rest else found


def _plain(part):
    return slice(*(None if bound is None else int(bound) for bound in (part.start, part.stop, part.step)))


def _cut_rows(ragged, key):
    """Return `ragged[:, key...]`."""
    import numpy as np
    part, rest = key[0], key[1:]
    lengths, starts = ragged._lengths(), ragged._splits[:-1]
    if isinstance(part, slice):
        part = _plain(part)
        if part != slice(None):
            chosen = [range(length)[part] for length in lengths.tolist()]
            flat = np.concatenate([np.arange(0)] + [start + np.array(one, np.int64)
                                                    for start, one in zip(starts.tolist(), chosen)]).astype(np.int64)
            ragged = _from_lengths(take_rows(ragged._values, flat), [len(one) for one in chosen], ragged._splits_dtype)
        if not rest:
            return ragged
        values = ragged._values
        inner = _cut_rows(values, rest) if isinstance(values, _class()) else values[(slice(None), *rest)]
        return ragged.with_values(inner)
    if part is None:
        raise NotImplementedError("RaggedTensor: tf.newaxis is not supported as a subscript; see tf.expand_dims")
    part = int(part)
    if not ((lengths > part) & (lengths >= -part)).all():
        raise _invalid(f"slice index {part} of dimension 1 out of bounds for rows of lengths {lengths.tolist()}.")
    found = take_rows(ragged._values, starts + np.where(part < 0, lengths + part, part))
    return found[(slice(None), *rest)] if rest else found


def merge_inner(values, outer, inner):
    """Return values, ragged or not, with several axes as one."""
    import numpy as np
    if isinstance(values, _class()):
        return values.merge_dims(outer, inner)
    shape = list(values.shape)
    return _reshape(values, shape[:outer] + [int(np.prod(shape[outer:inner + 1]))] + shape[inner + 1:])


def merge_all(ragged):
    """Return the values of a ragged tensor without axes."""
    return _reshape(ragged.flat_values, [-1])


def places_of(ragged):
    """Return an array of the subscripts of all values of a ragged tensor."""
    import numpy as np
    within = np.arange(ragged._splits[-1]) - np.repeat(ragged._splits[:-1], ragged._lengths())
    places = np.stack([ragged._row_ids(), within], 1).astype(np.int64)
    values = ragged._values
    if isinstance(values, _class()):
        inner = places_of(values)
    else:
        inner = np.stack(np.meshgrid(*map(np.arange, values.shape), indexing="ij"), -1).reshape(-1, len(values.shape))
    return np.concatenate([places[inner[:, 0]], inner[:, 1:]], 1).astype(np.int64)


def to_dense(ragged, default_value=None, shape=None):
    """Return a dense tensor, short rows filled up and long ones cut."""
    import numpy as np
    values = ragged._values
    inner_shape = None if shape is None else list(shape)[1:]
    if isinstance(values, _class()):
        values = to_dense(values, default_value, None if inner_shape is None else inner_shape)
    lengths, starts = ragged._lengths(), ragged._splits[:-1]
    width = int(lengths.max(initial=0)) if shape is None or list(shape)[1] is None else int(list(shape)[1])
    height = len(lengths) if shape is None or list(shape)[0] is None else int(list(shape)[0])
    if height != len(lengths):
        size = min(height, len(lengths))
        lengths = np.concatenate([lengths[:size], np.zeros(height - size, np.int64)])
        starts = np.concatenate([starts[:size], np.zeros(height - size, np.int64)])
    default = _default(values, default_value)
    columns = np.arange(width)
    marked = columns < lengths[:, None]
    places = np.where(marked, starts[:, None] + columns, int(values.shape[0]))
    if isinstance(values, StringTensor):
        filler = np.full((1, *values.shape[1:]), None, object)
        filler[...] = array_of(default)
        return over_strings(np.concatenate([values._array, filler])[places])
    filler = ops.broadcast_to(default, [1, *values.shape[1:]])
    padded = ops.cat([values, filler], 0)
    dense = ops.index_select(padded, 0, wrap_array(places.reshape(-1).astype(np.int64)))
    return ops.reshape(dense, [len(lengths), width, *values.shape[1:]])


def _default(values, default_value):
    if default_value is None:
        default_value = b"" if isinstance(values, StringTensor) else False if values.dtype.is_bool else 0
    return convert_to_tensor(default_value, dtype=values.dtype)


def stack_rows(tensors):
    """Return ragged tensors, or ragged and dense ones, as the rows of one."""
    lengths = [int(tensor.shape[0]) for tensor in tensors]
    return _from_lengths(join(tensors), lengths, next(
        (tensor._splits_dtype for tensor in tensors if isinstance(tensor, _class())), as_dtype("int32")))


def stack_dense(leaves, splits_dtype):
    """Return dense tensors of different shapes as the rows of a ragged tensor."""
    values = [convert_to_tensor(leaf) for leaf in leaves]
    if len(values[0].shape) > 1:
        rows = [from_tensor(value, ragged_rank=len(value.shape) - 1) for value in values]
        return stack_rows(rows).with_row_splits_dtype(splits_dtype)
    return _from_lengths(join(values), [int(value.shape[0]) for value in values], as_dtype(splits_dtype))


def join(tensors):
    """Return tensors, ragged or not, one after the other along their first axis."""
    import numpy as np
    ragged = _class()
    if any(isinstance(tensor, ragged) for tensor in tensors):
        tensors = [tensor if isinstance(tensor, ragged) else from_tensor(tensor) for tensor in tensors]
        lengths = np.concatenate([tensor._lengths() for tensor in tensors])
        uniform = {tensor._uniform for tensor in tensors}
        return _from_lengths(join([tensor._values for tensor in tensors]), lengths, tensors[0]._splits_dtype,
                             uniform.pop() if len(uniform) == 1 else None)
    if isinstance(tensors[0], StringTensor):
        return over_strings(np.concatenate([tensor._array for tensor in tensors]))
    return ops.cat([convert_to_tensor(tensor) for tensor in tensors], 0)
