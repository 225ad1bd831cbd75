"""Functions of sparse tensors; results follow from the values, so that gradients reach them."""
from dragon.vm.shared import errors
from dragon.vm.shared.arrays.array import as_ints, check_axis
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.sparse.tensor import SparseTensor, take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import ops


def check(value, who):
    """Return a sparse tensor, or raise."""
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{who}: input must be a SparseTensor. Received: {value!r}")
    return value


def from_dense(tensor):
    """Return the values of a dense tensor that are not zero."""
    import numpy as np
    tensor = convert_to_tensor(tensor)
    array = array_of(tensor)
    places = np.argwhere(array != b"" if isinstance(tensor, StringTensor) else array != 0).astype(np.int64)
    shape = list(tensor.shape)
    flat = np.ravel_multi_index(tuple(places.T), shape) if len(shape) and len(places) else (
        np.zeros(len(places), np.int64))
    values = over_strings(array.reshape(-1)) if isinstance(tensor, StringTensor) else ops.reshape(tensor, [-1])
    return SparseTensor(wrap_array(places), take(values, flat), shape)


def to_dense(sparse, default_value=None, validate_indices=True):
    """Return a dense tensor with the values at their places."""
    import numpy as np
    flat, sizes = sparse._flat(), sparse._sizes
    places = sparse._places()
    if ((places < 0) | (places >= np.array(sizes, np.int64))).any():
        raise errors.InvalidArgumentError(None, None, "to_dense: indices are out of bounds of the dense shape. "
                                          f"Received: {places.tolist()} for {sizes}")
    if validate_indices and (flat[1:] <= flat[:-1]).any():
        repeated = (flat[1:] == flat[:-1]).any()
        raise errors.InvalidArgumentError(
            None, None, f"to_dense: indices are {'repeated' if repeated else 'out of order'}. Many sparse ops require "
            f"sorted indices; use `tf.sparse.reorder`. Received: {places.tolist()}")
    total = int(np.prod(sizes))
    if isinstance(sparse.values, StringTensor):
        filled = np.full(total, b"" if default_value is None else convert_to_tensor(default_value).numpy(), object)
        filled[flat] = sparse.values._array
        return over_strings(filled.reshape(sizes))
    if default_value is None:
        box = ops.full([total], False if sparse.dtype.is_bool else 0, dtype=sparse.dtype)
    else:
        box = ops.broadcast_to(ops.reshape(convert_to_tensor(default_value, dtype=sparse.dtype), [1]), [total])
    return ops.reshape(ops.index_copy(box, 0, wrap_array(flat.astype(np.int64)), sparse.values), sizes)


def reorder(sparse):
    """Return the same values in the order of their places."""
    import numpy as np
    return sparse._take(np.argsort(sparse._flat(), kind="stable"))


def reshape(sparse, shape):
    """Return the same values in a box of other sizes."""
    import numpy as np
    shape = list(as_shape(shape))
    total = int(np.prod(sparse._sizes))
    if -1 in shape:
        known = int(np.prod([size for size in shape if size != -1]))
        shape[shape.index(-1)] = total // known if known else 0
    if int(np.prod(shape)) != total:
        raise errors.InvalidArgumentError(None, None, f"reshape: input has {total} dense values, which the shape "
                                          f"{shape} does not hold")
    places = np.stack(np.unravel_index(sparse._flat(), shape), 1) if shape else np.zeros((len(sparse._flat()), 0))
    return SparseTensor(wrap_array(places.astype(np.int64)), sparse.values, shape)


def expand_dims(sparse, axis=None):
    """Return the same values in a box with a further axis of size 1."""
    import numpy as np
    axis = -1 if axis is None else int(axis)
    rank = len(sparse._sizes) + 1
    if not -rank <= axis < rank:
        raise ValueError(f"expand_dims: axis must be between {-rank} and {rank - 1}. Received: {axis}")
    axis %= rank
    return SparseTensor(wrap_array(np.insert(sparse._places(), axis, 0, axis=1)), sparse.values,
                        sparse._sizes[:axis] + [1] + sparse._sizes[axis:])


def transpose(sparse, perm=None):
    """Return the same values in a box whose axes are in another order."""
    rank = len(sparse._sizes)
    perm = list(range(rank))[::-1] if perm is None else [int(axis) for axis in perm]
    made = SparseTensor(wrap_array(sparse._places()[:, perm].copy()), sparse.values,
                        [sparse._sizes[axis] for axis in perm])
    return reorder(made)


def slice_box(sparse, start, size):
    """Return the part of a box from places on, of sizes."""
    import numpy as np
    start = np.array([int(one) for one in start], np.int64)
    sizes = np.minimum(np.array([int(one) for one in size], np.int64), np.array(sparse._sizes) - start).clip(0)
    places = sparse._places() - start
    kept = np.flatnonzero(((places >= 0) & (places < sizes)).all(1))
    return SparseTensor(wrap_array(places[kept]), take(sparse.values, kept), sizes.tolist())


def take_rows(sparse, rows):
    """Return the parts of a sparse tensor at places along its first axis, in their order."""
    import numpy as np
    rows, own = array_of(convert_to_tensor(rows)), sparse._places()
    order = np.argsort(own[:, 0], kind="stable")
    starts = np.searchsorted(own[order, 0], rows)
    counts = np.searchsorted(own[order, 0], rows, side="right") - starts
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = order[np.repeat(starts, counts) + within]
    places = own[chosen]
    places[:, 0] = np.repeat(np.arange(len(rows)), counts)
    return SparseTensor(wrap_array(places), take(sparse.values, chosen), [len(rows), *sparse._sizes[1:]])


def get_item(sparse, key):
    """Return a part of a sparse tensor: slices of step 1 and integers."""
    key = key if isinstance(key, tuple) else (key,)
    start, size, dropped = [0] * sparse.ndim, list(sparse._sizes), []
    if len(key) > sparse.ndim:
        raise IndexError(f"SparseTensor: got {len(key)} subscripts, expected at most {sparse.ndim}")
    for axis, part in enumerate(key):
        if isinstance(part, slice):
            begin, end, step = part.indices(size[axis])
            if step != 1:
                raise NotImplementedError(f"SparseTensor: slices have step 1 only. Received: {part}")
            start[axis], size[axis] = begin, max(end - begin, 0)
        else:
            place, count = as_ints(part), size[axis]
            if not isinstance(place, int) or not -count <= place < count:
                raise IndexError(f"SparseTensor: got subscript {part!r} for axis {axis} of size {count}, expected "
                                 f"{-count} to {count - 1}")
            start[axis], size[axis] = place % count, 1
            dropped.append(axis)
    found = slice_box(sparse, start, size)
    if not dropped:
        return found
    import numpy as np
    return SparseTensor(wrap_array(np.delete(found._places(), dropped, 1)), found.values,
                        [own for axis, own in enumerate(size) if axis not in dropped])


def concat(tensors, axis, expand_nonconcat_dims=False):
    """Return sparse tensors one after the other along an axis."""
    import numpy as np
    tensors = [check(tensor, "concat") for tensor in tensors]
    if not tensors or any(tensor.ndim != tensors[0].ndim for tensor in tensors):
        raise ValueError(f"concat: got tensors of ranks {[tensor.ndim for tensor in tensors]}, expected one rank")
    axis = check_axis(axis, tensors[0].ndim, "concat")
    sizes = np.array([tensor._sizes for tensor in tensors])
    whole = sizes.max(0)
    if not expand_nonconcat_dims and (np.delete(sizes, axis, 1) != np.delete(whole, axis)).any():
        raise errors.InvalidArgumentError(None, None, "concat: the shapes differ outside the axis. Received: "
                                          f"{sizes.tolist()}")
    offsets = np.cumsum(sizes[:, axis]) - sizes[:, axis]
    places = []
    for tensor, offset in zip(tensors, offsets):
        moved = tensor._places().copy()
        moved[:, axis] += offset
        places.append(moved)
    whole[axis] = sizes[:, axis].sum()
    joined = SparseTensor(wrap_array(np.concatenate(places)), join_values(tensors), whole.tolist())
    return reorder(joined)


def join_values(tensors):
    """Return the values of sparse tensors one after the other."""
    import numpy as np
    if isinstance(tensors[0].values, StringTensor):
        return over_strings(np.concatenate([tensor.values._array for tensor in tensors]))
    return ops.cat([tensor.values for tensor in tensors], 0)


def split(sparse, num_split, axis):
    """Return the parts of a box cut along an axis."""
    axis, count = check_axis(axis, sparse.ndim, "split"), int(num_split)
    if not 1 <= count <= max(sparse._sizes[axis], 1):
        raise errors.InvalidArgumentError(None, None, "split: num_split must be between 1 and the size of the axis, "
                                          f"{sparse._sizes[axis]}. Received: {num_split}")
    size, extra = divmod(sparse._sizes[axis], count)
    parts, begin = [], 0
    for number in range(count):
        start, sizes = [0] * sparse.ndim, list(sparse._sizes)
        start[axis], sizes[axis] = begin, size + (number < extra)
        begin += sizes[axis]
        parts.append(slice_box(sparse, start, sizes))
    return parts


def add(a, b, threshold=0):
    """Return the sum of two tensors of which one or both are sparse."""
    import numpy as np
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
        return ops.add(to_dense(check(sparse, "add")), convert_to_tensor(dense))
    both = combine(a, b, "sum")
    if not threshold:
        return both
    return both._take(np.flatnonzero(abs(array_of(both.values)) >= float(threshold)))


def combine(a, b, how):
    """Return the sum, maximum or minimum of two sparse tensors; where one has no value, it is 0."""
    import numpy as np
    if a._sizes != b._sizes:
        raise errors.InvalidArgumentError(None, None, f"Operands' shapes do not match: got {a._sizes} and {b._sizes}")
    flat = np.concatenate([a._flat(), b._flat()])
    found, first, numbers, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True)
    places = np.concatenate([a._places(), b._places()])[first]
    values = join_values([a, b])
    index = wrap_array(numbers.reshape(-1).astype(np.int64))
    if how == "sum":
        merged = ops.index_add(ops.zeros([len(found)], dtype=values.dtype), 0, index, values)
    else:
        # A place that only one has a value for compares it with zero.
        alone = wrap_array(counts == 1)
        start = ops.index_select(values, 0, wrap_array(first.astype(np.int64)))
        start = ops.where(alone, ops.zeros_like(start), start)
        merged = ops.index_reduce(start, 0, index, values, how)
    return SparseTensor(wrap_array(places), merged, a._sizes)


def with_dense(sparse, dense, operate):
    """Return what an operator gives for the values and a dense tensor at their places."""
    import numpy as np
    dense = convert_to_tensor(dense, dtype=None if hasattr(dense, "dtype") else sparse.dtype)
    if not len(dense.shape):
        return sparse.with_values(operate(sparse.values, dense))
    wide = ops.reshape(ops.broadcast_to(dense, sparse._sizes), [-1])
    return sparse.with_values(operate(sparse.values, take(wide, sparse._flat().astype(np.int64))))


def matmul(sparse, dense, adjoint_a=False, adjoint_b=False):
    """Return the product of a sparse matrix and a dense one."""
    import numpy as np
    if not isinstance(sparse, SparseTensor):
        # The transposed product has the sparse matrix on the left.
        flipped = matmul(check(dense, "sparse_dense_matmul"), sparse, not adjoint_b, not adjoint_a)
        return ops.swapaxes(flipped, 0, 1)
    if sparse.ndim != 2:
        raise errors.InvalidArgumentError(None, None, "sparse_dense_matmul: expected a matrix. "
                                          f"Received: {sparse.shape}")
    dense = dense if hasattr(dense, "ndim") else convert_to_tensor(dense)
    dense = ops.swapaxes(dense, 0, 1) if adjoint_b else dense
    places = sparse._places()
    rows, columns = (1, 0) if adjoint_a else (0, 1)
    if sparse._sizes[columns] != int(dense.shape[0]):
        raise errors.InvalidArgumentError(
            None, None, "sparse_dense_matmul: cannot multiply A and B because inner dimension does not match: "
            f"{sparse._sizes[columns]} vs. {dense.shape[0]}")
    picked = ops.index_select(dense, 0, wrap_array(np.ascontiguousarray(places[:, columns])))
    product = ops.mul(picked, ops.unsqueeze(sparse.values, 1))
    start = ops.zeros([sparse._sizes[rows], int(dense.shape[1])], dtype=product.dtype)
    return ops.index_add(start, 0, wrap_array(np.ascontiguousarray(places[:, rows])), product)


def reduce(sparse, axis, keepdims, how):
    """Return the dense sum or maximum along axes."""
    import numpy as np
    rank = sparse.ndim
    axes = list(range(rank)) if axis is None else as_ints(axis)
    axes = [check_axis(one, rank, "SparseReduce") for one in (axes if isinstance(axes, list) else [axes])]
    kept = [number for number in range(rank) if number not in axes]
    sizes = [sparse._sizes[number] for number in kept]
    flat = np.ravel_multi_index(tuple(sparse._places()[:, kept].T), sizes) if kept and len(sparse._flat()) else (
        np.zeros(len(sparse._flat()), np.int64))
    total, index = int(np.prod(sizes)), wrap_array(np.asarray(flat, np.int64))
    if how == "sum":
        found = ops.index_add(ops.zeros([total], dtype=sparse.dtype), 0, index, sparse.values)
    else:
        lowest = float("-inf") if sparse.dtype.is_floating else sparse.dtype.min
        found = ops.index_reduce(ops.full([total], lowest, dtype=sparse.dtype), 0, index, sparse.values, "amax")
        seen = wrap_array(np.bincount(flat, minlength=total) > 0)
        found = ops.where(seen, found, ops.zeros_like(found))
    shape = [1 if number in axes else sparse._sizes[number] for number in range(rank)] if keepdims else sizes
    return ops.reshape(found, shape)
