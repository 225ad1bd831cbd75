"""Entries of tensors by number, by mask and by value; and entries put there."""
import math

from dragon import _C
from dragon.vm.shared.arrays.array import as_ints, at_least, check_axis, indices_of
from dragon.vm.shared.arrays.joining import check_dtypes
from dragon.vm.shared.arrays.moving import is_ragged, is_text, moving, take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.recording.lookups import note
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.tensor import ops


@moving(0)
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """Return entries of an axis by number.

    Parameters
    ----------
    params : Tensor
        Where they are taken from.
    indices : Tensor
        Their numbers, in any shape.
    validate_indices : Any, optional
        Not used.
    axis : int, optional
        Which axis; by default the first after the batch axes.
    batch_dims : int, optional, default=0
        How many first axes of both tensors belong together.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        The shape of `indices` stands where the axis was.

    Examples
    --------
    >>> tf.gather([10, 20, 30], [2, 0])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([30, 10], dtype=int32)>

    """
    if is_ragged(params):
        if batch_dims:
            raise NotImplementedError(f"tf.gather: batch_dims of ragged tensors. Received: batch_dims={batch_dims}")
        from dragon.vm.shared.ragged import math as ragged_math
        return ragged_math.gather(params, indices, 0 if axis is None else axis)
    x, index = take(params), take(indices)
    if not index.dtype.is_integer:
        raise invalid_argument(f"Value for attr 'Tindices' of {index.dtype.name} is not in the list of allowed values: "
                               "int32, int64 [Op:GatherV2]")
    batch = batch_dims if batch_dims >= 0 else batch_dims + index.ndim
    axis = batch if axis is None else check_axis(as_ints(axis), x.ndim, "GatherV2")
    told, index = index.dtype, ops.cast(index, "int64")
    if not batch:
        flat = ops.reshape(index, (-1,))
        found = ops.index_select(x, axis, flat)
        if not axis:
            note(x, ops.cast(flat, told), found)
        return ops.reshape(found, (*x.shape[:axis], *index.shape, *x.shape[axis + 1:]))
    if axis != batch:
        x = ops.movedim(x, axis, batch)
    if tuple(index.shape[:batch]) != tuple(x.shape[:batch]):
        raise invalid_argument(f"params.shape[:{batch}] should be equal to indices.shape[:{batch}]. Received: "
                               f"{tuple(x.shape)} and {tuple(index.shape)} [Op:GatherV2]")
    found = ops.index(x, [*_batch_columns(index, batch), index], from_end=False)
    if axis == batch:
        return found
    # The axes that stood between the batch and the gathered axis come first again.
    inner, own = axis - batch, index.ndim - batch
    order = [*range(batch), *range(batch + own, batch + own + inner), *range(batch, batch + own),
             *range(batch + own + inner, found.ndim)]
    return ops.permute(found, order)


def _batch_columns(index, batch):
    """Return for each of the first axes of an index the numbers of its places, to go along with the index."""
    columns = []
    for place in range(batch):
        shape = [1] * index.ndim
        shape[place] = index.shape[place]
        columns.append(ops.reshape(ops.arange(0, index.shape[place], dtype="int64"), shape))
    return columns


def _columns(indices):
    """Return the last axis of indices as a list of index tensors."""
    at_least(indices, 1, "indices")
    return list(ops.unbind(indices_of(indices, "GatherNd"), -1))


def _find_inside(index, sizes, policy, op):
    """Return which rows of numbers are those of entries, where others are ignored; None where others are an error."""
    if policy in ("", "DEFAULT", "ERROR"):
        return None
    if policy != "IGNORE":
        raise invalid_argument(f"Unknown bad indices handling attribute: {policy} [Op:{op}]")
    if 0 in sizes:
        return None  # an axis without entries is an error all the same
    index = ops.cast(index, "int64")
    return ops.all(ops.logical_and(ops.ge(index, 0), ops.lt(index, convert_to_tensor(list(sizes), "int64"))), -1)


@moving(0)
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """Return entries by rows of numbers, one for each of the first axes; zeros where "IGNORE" spares one outside."""
    x, index = take(params), take(indices)
    depth = index.shape[-1] if index.ndim else 0
    inside = _find_inside(index, tuple(x.shape[batch_dims:batch_dims + depth]), bad_indices_policy, "GatherNd")
    if inside is not None:
        index = ops.where(ops.unsqueeze(inside, -1), index, ops.zeros_like(index))
    columns = _columns(index)
    if not columns:
        return ops.broadcast_to(x, (*index.shape[:-1], *x.shape))
    if batch_dims:
        columns = _batch_columns(columns[0], batch_dims) + columns
    found = ops.index(x, columns, from_end=False)
    if inside is None:
        return found
    inside = ops.reshape(inside, (*inside.shape, *[1] * (found.ndim - inside.ndim)))
    return ops.where(inside, found, ops.zeros_like(found))


def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None):
    """Return zeros with entries added at rows of numbers; "IGNORE" leaves out rows that lie outside."""
    updates = take(updates)
    return _put(ops.zeros(as_shape(shape), dtype=updates.dtype), indices, updates, True, bad_indices_policy,
                "ScatterNd")


def _leave_out(x, index, updates, policy, op):
    """Return the rows of numbers and the updates, without those outside where they are to be ignored."""
    inside = _find_inside(index, tuple(x.shape[:index.shape[-1]]), policy, op)
    if inside is None:
        return index, updates
    return ops.index(index, [inside], from_end=False), ops.index(updates, [inside], from_end=False)


def _put(x, indices, updates, accumulate, policy="", op=""):
    index = take(indices)
    updates = take(updates, None if isinstance(updates, _C.Tensor) else x.dtype)
    check_dtypes([x, updates], "TensorScatterUpdate")
    at_least(index, 1, "indices")
    wanted = (*index.shape[:-1], *x.shape[index.shape[-1]:])
    if tuple(updates.shape) != wanted:
        updates = ops.broadcast_to(updates, wanted)
    index, updates = _leave_out(x, index, updates, policy, op)
    return ops.index_put(x, _columns(index), updates, accumulate, from_end=False)


@moving(0, 2)
def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """Return the tensor with other entries at rows of numbers."""
    return _put(take(tensor), indices, updates, False)


def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None):
    """Return the tensor with entries added at rows of numbers."""
    return _put(take(tensor), indices, updates, True, bad_indices_policy, "TensorScatterAdd")


def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None):
    """Return the tensor with entries subtracted at rows of numbers."""
    x = take(tensor)
    updates = -take(updates, None if isinstance(updates, _C.Tensor) else x.dtype)
    return _put(x, indices, updates, True, bad_indices_policy, "TensorScatterSub")


def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None):
    """Return the tensor with the greater of its entries and others at rows of numbers."""
    return _reduce(tensor, indices, updates, "amax", bad_indices_policy)


def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None):
    """Return the tensor with the lesser of its entries and others at rows of numbers."""
    return _reduce(tensor, indices, updates, "amin", bad_indices_policy)


def _reduce(tensor, indices, updates, how, policy):
    x, index = take(tensor), at_least(take(indices), 1, "indices")
    updates = take(updates, None if isinstance(updates, _C.Tensor) else x.dtype)
    depth = index.shape[-1]
    if depth > x.ndim:
        raise invalid_argument(f"Inner dimension {depth} of indices must be <= rank {x.ndim} of the tensor")
    index, updates = _leave_out(x, index, updates, policy, "TensorScatterMax" if how == "amax" else "TensorScatterMin")
    # The place of each row among all, read where they are counted, so that each number must lie on its own axis.
    sizes, rest = tuple(x.shape[:depth]), tuple(x.shape[depth:])
    step = 1
    for size in sizes:
        step *= size
    count = ops.reshape(ops.arange(0, step, dtype="int64"), sizes)
    place = ops.index(count, _columns(index), from_end=False)
    flat = ops.reshape(x, (step, *rest))
    made = ops.index_reduce(flat, 0, ops.reshape(place, (-1,)), ops.reshape(updates, (-1, *rest)), how)
    return ops.reshape(made, tuple(x.shape))


@moving(0)
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """Return the entries that a mask marks, along one axis."""
    if is_ragged(tensor) or is_ragged(mask):
        from dragon.vm.shared.ragged import math as ragged_math
        return ragged_math.boolean_mask(tensor, mask)
    x, mask = take(tensor), take(mask)
    axis = check_axis(0 if axis is None else as_ints(axis), x.ndim, "boolean_mask")
    if not mask.ndim:
        raise ValueError("mask cannot be scalar.")
    if tuple(x.shape[axis:axis + mask.ndim]) != tuple(mask.shape):
        raise ValueError(f"Shapes {tuple(x.shape[axis:axis + mask.ndim])} and {tuple(mask.shape)} are incompatible")
    several = [math.prod(x.shape[axis:axis + mask.ndim])] if mask.ndim != 1 else [x.shape[axis]]
    flat = ops.reshape(x, (*x.shape[:axis], *several, *x.shape[axis + mask.ndim:]))
    places = ops.reshape(ops.argwhere(ops.reshape(ops.cast(mask, "bool"), (-1,))), (-1,))
    return ops.index_select(flat, axis, places)


def where(condition, x=None, y=None, name=None):
    """Return `x` where a condition holds and `y` elsewhere; without them, the places where it holds.

    Parameters
    ----------
    condition : Tensor
        Booleans.
    x, y : Union[Tensor, number], optional
        Taken where it holds, and elsewhere.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of the shape that all broadcast to; or places, as rows.

    Examples
    --------
    >>> x = tf.constant([-1.0, 2.0])
    >>> tf.where(x > 0, x, 0.0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 2.], dtype=float32)>
    >>> tf.where(x > 0)
    <tf.Tensor: shape=(1, 1), dtype=int64, numpy=array([[1]])>

    """
    mask = take(condition)
    if x is None and y is None:
        return ops.argwhere(mask)
    if x is None or y is None:
        raise ValueError(f"x and y must both be non-None or both be None. Received: x={x!r}, y={y!r}")
    if is_text(x) or is_text(y):
        return _where_text(x, mask, y)
    like = next((side for side in (x, y) if isinstance(side, _C.Tensor)), None)
    if like is not None:
        x, y = (take(side, None if isinstance(side, _C.Tensor) else like.dtype) for side in (x, y))
    else:
        x = convert_to_tensor(x, dtype_hint=convert_to_tensor(y).dtype) if isinstance(x, int) else convert_to_tensor(x)
        y = convert_to_tensor(y, x.dtype)
    check_dtypes([x, y], "SelectV2")
    if not mask.dtype.is_bool:
        raise invalid_argument("cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but "
                               f"is a {mask.dtype.name} tensor [Op:SelectV2]")
    return ops.where(mask, x, y)


@moving(0, 2)
def _where_text(x, mask, y):
    return ops.where(mask, x, y)


def unique(x, out_idx=int32, name=None):
    """Return the different elements in the order of their first places, and for each element which one it is."""
    import collections
    values, places, _ = _unique(x, out_idx)
    return collections.namedtuple("Unique", "y idx")(values, places)


def unique_with_counts(x, out_idx=int32, name=None):
    """Return the different elements, for each element which one it is, and how many there are of each."""
    import collections
    return collections.namedtuple("UniqueWithCounts", "y idx count")(*_unique(x, out_idx))


def _unique(x, out_idx):
    import numpy as np
    array = np.asarray(convert_to_tensor(x).numpy(), object if is_text(x) else None)
    if array.ndim != 1:
        raise invalid_argument(f"unique expects a 1D vector. Received: shape {array.shape} [Op:Unique]")
    values, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    dtype = as_dtype(out_idx)
    return (convert_to_tensor(values[order], None if values.dtype.kind in "OSU" else convert_to_tensor(x).dtype),
            convert_to_tensor(rank[inverse.reshape(-1)], dtype), convert_to_tensor(counts[order], dtype))


@moving(0)
def dynamic_partition(data, partitions, num_partitions, name=None):
    """Return the entries of each group: `partitions` says which group each entry is in."""
    x, groups = take(data), indices_of(partitions, "DynamicPartition")
    flat = ops.reshape(x, (-1, *x.shape[groups.ndim:]))
    # Read from the numbers of the groups, each must be one of them.
    known = ops.arange(0, int(num_partitions), dtype="int64")
    groups = ops.index_select(known, 0, ops.reshape(groups, (-1,)))
    return [ops.index_select(flat, 0, ops.reshape(ops.argwhere(ops.eq(groups, number)), (-1,)))
            for number in range(int(num_partitions))]


def dynamic_stitch(indices, data, name=None):
    """Return entries at the places that numbers name; where there are several, the last one."""
    indices, data = [take(item) for item in indices], [take(item) for item in data]
    if not indices or len(indices) != len(data):
        raise invalid_argument(f"Expected as many indices as data, and one at least. Received: {len(indices)} and "
                               f"{len(data)} [Op:DynamicStitch]")
    length = max((int(ops.max(item)) for item in indices if item.shape.num_elements()), default=-1) + 1
    rest = tuple(data[0].shape[indices[0].ndim:])
    made = ops.zeros((length, *rest), dtype=data[0].dtype)
    for index, values in zip(indices, data):  # written in place: an index may ask for most of the memory there is
        flat = ops.reshape(index, (-1, 1))
        made = ops.index_put_(made, _columns(flat), ops.reshape(values, (-1, *rest)), False, from_end=False)
    return made


def unravel_index(indices, dims, name=None):
    """Return the coordinates of elements that are told by their number in row-major order."""
    index, sizes = take(indices), as_shape(dims)
    if not index.dtype.is_integer:
        raise TypeError(f"unravel_index: expected integers as indices. Received: {index!r}")
    inside = not index.size or 0 <= int(ops.amin(index)) <= int(ops.amax(index)) < math.prod(sizes)
    if not inside or min(sizes, default=0) < 0:
        raise invalid_argument(f"index is out of bound as with dims. Received: dims={sizes} [Op:UnravelIndex]")
    columns = []
    for size in sizes[::-1]:
        columns.append(ops.remainder(index, size))
        index = ops.floor_divide(index, size)
    return ops.stack(columns[::-1], 0)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=int32, name=None):
    """Return in which of equal bins each value lies; values outside go to the outermost ones."""
    x = take(values)
    low, high = (float(end) for end in as_numbers(value_range))
    scaled = ops.cast((x - low) / (high - low) if x.dtype.is_floating else ops.cast(x - int(low), "float64")
                      / (high - low), "float64") * int(nbins)
    return ops.cast(ops.clamp(ops.floor(scaled), 0, int(nbins) - 1), as_dtype(dtype))


def histogram_fixed_width(values, value_range, nbins=100, dtype=int32, name=None):
    """Return how many values lie in each of equal bins; values outside go to the outermost ones."""
    bins = ops.reshape(histogram_fixed_width_bins(values, value_range, nbins), (-1,))
    return ops.cast(ops.bincount(bins, minlength=int(nbins)), as_dtype(dtype))


def as_numbers(value):
    """Return a tensor or a list of numbers as a list."""
    return value.tolist() if hasattr(value, "tolist") else list(value)
