"""Operators that make arrays, and that move, cut and join what is in them."""
from dragon.vm.shared.arrays import array, creation, gathering, joining
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.saved_model.table import find, operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import (
    LARGEST, Constant, Host, RaggedRows, RaggedVariant, TensorList, host, number, numbers, shape_of, tensor)


# --- made

@operator("Const")
def _const(node):
    if node.kept is None:
        node.kept = Constant(node.attributes["value"].tensor)
    return node.kept.value()


@operator("Size")
def _size(node, x):
    found = 1
    for size in shape_of(x):
        found = size * found
    return host(found, node.get("out_type"))


@operator("Fill")
def _fill(node, dims, value):
    dims = numbers(dims)
    if type(value) is Host and isinstance(dims, list) and len(dims) == 1 and type(dims[0]) is int and (
            0 <= dims[0] <= LARGEST):
        return Host([value.numbers] * dims[0], value.dtype)
    return creation.fill(dims, tensor(value))


@operator("Range")
def _range(node, start, limit, delta):
    if all(type(one) is Host and type(one.numbers) is int for one in (start, limit, delta)) and delta.numbers:
        found = range(start.numbers, limit.numbers, delta.numbers)
        if len(found) <= LARGEST:
            return Host(list(found), start.dtype)
    start, limit, delta = (numbers(one) if type(one) is Host else one for one in (start, limit, delta))
    return creation.range_(start, limit, delta, dtype=node.get("Tidx", "int32"))


@operator("ZerosLike OnesLike")
def _like(node, x):
    if isinstance(x, TensorList):
        return x.but([None] * len(x.items))
    return (creation.zeros_like if node.op == "ZerosLike" else creation.ones_like)(tensor(x))


# --- moved

@operator("Reshape")
def _reshape(node, x, shape):
    if type(x) is Host:
        wanted = numbers(shape)
        if isinstance(wanted, list) and len(wanted) < 2:
            flat = x.numbers if isinstance(x.numbers, list) else [x.numbers]
            if not wanted and len(flat) == 1:
                return Host(flat[0], x.dtype)
            if wanted and wanted[0] in (-1, len(flat)):
                return Host(flat, x.dtype)
    return array.reshape(tensor(x), numbers(shape))


@operator("Squeeze")
def _squeeze(node, x):
    axes = node.get("squeeze_dims")
    if type(x) is Host:
        return x if not isinstance(x.numbers, list) else Host(x.numbers[0], x.dtype) if len(
            x.numbers) == 1 else x
    return array.squeeze(tensor(x), axes or None)


@operator("ExpandDims")
def _expand_dims(node, x, axis):
    if type(x) is Host and not isinstance(x.numbers, list):
        return Host([x.numbers], x.dtype)
    return array.expand_dims(tensor(x), number(axis))


@operator("ReverseV2")
def _reverse(node, x, axes):
    if type(x) is Host and isinstance(x.numbers, list) and numbers(axes) in ([0], [-1]):
        return Host(x.numbers[::-1], x.dtype)
    return array.reverse(tensor(x), numbers(axes))


# --- joined and cut

@operator("ConcatV2")
def _concat(node, *operands):
    *parts, axis = operands
    if all(type(part) is Host and isinstance(part.numbers, list) for part in parts):
        return Host([one for part in parts for one in part.numbers], parts[0].dtype)
    return joining.concat([tensor(part) for part in parts], number(axis))


@operator("Concat")
def _old_concat(node, axis, *parts):
    return _concat(node, *parts, axis)


@operator("Pack")
def _pack(node, *parts):
    if all(type(part) is Host and not isinstance(part.numbers, list) for part in parts):
        return Host([part.numbers for part in parts], parts[0].dtype)
    if any(isinstance(part, RaggedVariant) for part in parts):
        return RaggedRows(list(parts))
    return joining.stack([tensor(part) for part in parts], node.get("axis"))


@operator("Unpack")
def _unpack(node, x):
    if type(x) is Host and isinstance(x.numbers, list):
        return [Host(one, x.dtype) for one in x.numbers]
    return list(joining.unstack(tensor(x), node.get("num"), node.get("axis")))


@operator("Slice")
def _slice(node, x, begin, size):
    begin, size = numbers(begin), numbers(size)
    if type(x) is Host and len(begin) == 1:
        end = len(x.numbers) if size[0] == -1 else begin[0] + size[0]
        return Host(x.numbers[begin[0]:end], x.dtype)
    return array.slice_(tensor(x), begin, size)


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _masks(node):
    return [node.get(name, 0) for name in _MASKS]


@operator("StridedSlice")
def _strided_slice(node, x, begin, end, strides):
    begin, end, strides, masks = numbers(begin), numbers(end), numbers(strides), _masks(node)
    if type(x) is Host and isinstance(x.numbers, list) and len(begin) == 1 and not masks[2] and not masks[3]:
        if masks[4]:
            return Host(x.numbers[begin[0]], x.dtype)
        return Host(x.numbers[slice(None if masks[0] else begin[0], None if masks[1] else end[0], strides[0])],
                    x.dtype)
    return array.strided_slice(tensor(x), begin, end, strides, *masks)


@operator("TensorStridedSliceUpdate")
def _strided_update(node, x, begin, end, strides, value):
    x = tensor(x)
    count = 1
    for size in x.shape:
        count *= size
    places = ops.reshape(ops.arange(0, count, 1), tuple(x.shape))
    chosen = array.strided_slice(places, numbers(begin), numbers(end), numbers(strides), *_masks(node))
    value = ops.reshape(ops.broadcast_to(tensor(value), tuple(chosen.shape)), (-1,))
    flat = gathering.tensor_scatter_nd_update(ops.reshape(x, (-1,)), ops.reshape(chosen, (-1, 1)), value)
    return ops.reshape(flat, tuple(x.shape))


# --- chosen

@operator("GatherV2")
def _gather(node, x, indices, axis):
    if type(x) is Host and type(indices) is Host and isinstance(x.numbers, list):
        places = indices.numbers
        if isinstance(places, list):
            return Host([x.numbers[place] for place in places], x.dtype)
        return Host(x.numbers[places], x.dtype)
    return gathering.gather(tensor(x), tensor(indices), axis=number(axis), batch_dims=node.get("batch_dims"))


@operator("SelectV2")
def _select_v2(node, condition, x, y):
    if type(condition) is Host and type(x) is Host and type(y) is Host and not isinstance(condition.numbers, list):
        return x if condition.numbers else y
    return gathering.where(tensor(condition), tensor(x), tensor(y))


@operator("UniqueV2")
def _unique_v2(node, x, axis):
    if len(shape_of(x)) != 1:
        raise UnimplementedError(None, None, "saved_model: UniqueV2 of rows is not supported "
                                 f"(node '{node.name}' of function '{node.where}')")
    return find("Unique").run(node, x)


@operator("ListDiff")
def _list_diff(node, x, y):
    import numpy as np
    from dragon.vm.shared.data.rows import array_of
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    x = tensor(x)
    known = set(array_of(tensor(y)).reshape(-1).tolist())
    places = [place for place, one in enumerate(array_of(x).tolist()) if one not in known]
    chosen = convert_to_tensor(np.asarray(places, np.int64))
    return gathering.gather(x, chosen), ops.cast(chosen, node.get("out_idx"))


@operator("Copy CopyHost DebugIdentityV2")
def _as_it_is(node, x):
    return x


@row_function
def bounds(k):
    """Return which diagonals are meant: a number or two."""
    found = numbers(k)
    return found if not isinstance(found, list) else found[0] if len(found) == 1 else tuple(found)
