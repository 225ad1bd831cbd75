"""Operators of rows that differ in length, and of tensors that are mostly zeros."""
from dragon.vm.shared.arrays import gathering
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.errors import UnimplementedError, invalid_argument
from dragon.vm.shared.ragged.making import from_row_splits, from_value_rowids
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import ragged, sparse
from dragon.vm.tensorflow.core.saved_model.table import operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import RaggedRows, RaggedVariant, number, numbers, tensor


@row_function
def nested(values, splits):
    """Return a ragged tensor of flat values and where rows end, from the outermost axis."""
    for one in reversed(splits):
        values = from_row_splits(values, one)
    return values


@operator("RaggedTensorToTensor")
def _to_tensor(node, shape, values, default, *partitions):
    kinds = node.get("row_partition_types")
    rows, partitions = tensor(values), [tensor(one) for one in partitions]
    first = None
    if kinds and kinds[0] == "FIRST_DIM_SIZE":
        first, kinds, partitions = number(partitions[0]), kinds[1:], partitions[1:]
    counts = [None] * len(kinds)
    if first is not None and counts:
        counts[0] = first
    for place in range(len(kinds) - 1, -1, -1):
        if kinds[place] == "ROW_SPLITS":
            rows = from_row_splits(rows, partitions[place])
        elif kinds[place] == "VALUE_ROWIDS":
            rows = from_value_rowids(rows, partitions[place], counts[place])
        else:
            raise UnimplementedError(None, None, f"saved_model: RaggedTensorToTensor with {kinds[place]} is not "
                                     f"supported (node '{node.name}' of function '{node.where}')")
    wanted = numbers(shape)
    wanted = None if not isinstance(wanted, list) else [None if size == -1 else size for size in wanted]
    return rows.to_tensor(tensor(default), shape=wanted)


@operator("RaggedTensorToVariant")
def _to_variant(node, *operands):
    *splits, values = [tensor(operand) for operand in operands]
    if not node.get("batched_input"):
        return RaggedVariant(splits, values)
    rows = nested(values, splits)
    found = []
    for row in rows:
        inner = list(getattr(row, "nested_row_splits", ()))
        found.append(RaggedVariant(inner, getattr(row, "flat_values", row)))
    return RaggedRows(found)


@operator("RaggedTensorFromVariant")
def _from_variant(node, found):
    if isinstance(found, RaggedVariant):
        return list(found.splits), found.values
    if not isinstance(found, RaggedRows):
        raise invalid_argument(f"RaggedTensorFromVariant: got {type(found).__name__}, expected rows")
    if not found.items:
        return ([ops.zeros((1,), dtype=node.get("Tsplits"))] * node.get("output_ragged_rank"),
                ops.zeros((0,), dtype=node.get("Tvalues")))
    rows = ragged.stack([nested(part.values, part.splits) for part in found.items])
    return list(rows.nested_row_splits), rows.flat_values


def _count(node, ids, values, shape, weights):
    """Return how often each number below `shape[-1]` is in each row, or the sum of its weights."""
    import numpy as np
    values, weights = array_of(tensor(values)), array_of(tensor(weights))
    wanted = node.get("T")
    made = np.zeros(shape, wanted.as_numpy_dtype)
    if values.size and values.min() < 0:
        raise invalid_argument(f"{node.op}: Input must be non-negative")
    inside = values < shape[-1]
    places = (values[inside],) if ids is None else (ids[inside], values[inside])
    if node.get("binary_output", False):
        made[places] = 1
    else:
        np.add.at(made, places, weights[inside] if weights.size else np.ones((), made.dtype))
    return wrap_array(made)


@operator("RaggedBincount")
def _bincount(node, splits, values, size, weights):
    import numpy as np
    splits = array_of(tensor(splits))
    ids = np.repeat(np.arange(len(splits) - 1), splits[1:] - splits[:-1])
    return _count(node, ids, values, [len(splits) - 1, number(size)], weights)


# --- sparse

@row_function
def parts(found):
    """Return a sparse tensor's indices, values and shape."""
    return found.indices, found.values, found.dense_shape


@operator("SparseToDense")
def _sparse_to_dense(node, indices, shape, values, default):
    indices, values, default = tensor(indices), tensor(values), tensor(default)
    import numpy as np
    places = array_of(indices)
    sizes = numbers(shape)
    places = places.reshape(-1, 1) if places.ndim < 2 and len(sizes) == 1 else places.reshape(-1, len(sizes))
    array = array_of(values)
    made = np.empty(sizes, array.dtype)
    made[...] = default.numpy()
    if places.size and ((places < 0) | (places >= np.array(sizes))).any():
        raise invalid_argument("indices are out of bounds [Op:SparseToDense]")
    if array.dtype != object and values.shape.rank and values.requires_grad:
        dense = gathering.scatter_nd(convert_to_tensor(places), values, sizes)
        return dense if not default.numpy() else dense + _elsewhere(places, sizes, default)
    made[tuple(places.T)] = array
    return wrap_array(made)


def _elsewhere(places, sizes, default):
    import numpy as np
    made = np.full(sizes, default.numpy())
    made[tuple(places.T)] = 0
    return wrap_array(made)


@operator("SparseFillEmptyRows")
def _fill_rows(node, indices, values, shape, default):
    given = SparseTensor(tensor(indices), tensor(values), numbers(shape))
    found, is_empty = sparse.fill_empty_rows(given, tensor(default))
    import numpy as np
    rows, filled = array_of(tensor(indices))[:, 0], array_of(found.indices)[:, 0]
    empty = array_of(is_empty)
    places = np.flatnonzero(~empty[filled]) if len(filled) else np.zeros(0, np.int64)
    order = np.argsort(rows, kind="stable")
    back = np.empty(len(rows), np.int64)
    back[order] = places
    return found.indices, found.values, is_empty, wrap_array(back)


@operator("SparseBincount")
def _sparse_bincount(node, indices, values, shape, size, weights):
    sizes = numbers(shape)
    ids = None if len(sizes) == 1 else array_of(tensor(indices))[:, 0]
    return _count(node, ids, values, [*sizes[:-1], number(size)], weights)
