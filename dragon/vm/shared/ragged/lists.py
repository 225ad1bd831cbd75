"""Ragged tensors of nested lists."""
from dragon.vm.shared.ragged.making import _from_lengths
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import ops

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
        return convert_to_tensor(pylist, dtype=dtype)
    return _build(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype)


def _build(pylist, dtype, ragged_rank, inner_shape, splits_dtype):
    """Return nested lists as a ragged tensor of a rank."""
    partitions, level = [], list(pylist)
    for _ in range(ragged_rank):
        for row in level:
            if not isinstance(row, (list, tuple)) and not hasattr(row, "__len__"):
                raise ValueError(f"Invalid pylist={pylist}: scalars and lists stand side by side")
        partitions.append([len(row) for row in level])
        level = [item for row in level for item in row]
    if dtype is None and len({isinstance(item, (str, bytes)) for item in level}) > 1:
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    values = convert_to_tensor(level, dtype=dtype or (None if level else "float32"))
    if inner_shape is not None and tuple(inner_shape):
        values = ops.reshape(values, [int(values.shape[0]), *inner_shape])
    for lengths in reversed(partitions):
        values = _from_lengths(values, lengths, as_dtype(splits_dtype))
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
