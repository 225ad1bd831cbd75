"""Operators that make arrays, and that move, cut and join what is in them."""
from dragon.vm.shared.arrays import array, creation, gathering, joining
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.saved_model.table import operator, plain, rows
from dragon.vm.tensorflow.core.saved_model.values import (
    LARGEST, Constant, Host, RaggedRows, RaggedVariant, TensorList, dtype_of, host, number, numbers, shape_of, tensor)


# --- made

@operator("Const")
def _const(node):
    if node.kept is None:
        node.kept = Constant(node.attributes["value"].tensor)
    return node.kept.value()


@operator("Shape")
def _shape(node, x):
    return host(list(shape_of(x)), node.get("out_type", "int32"))


@operator("ShapeN")
def _shape_n(node, *operands):
    return [_shape(node, operand) for operand in operands]


@operator("Size")
def _size(node, x):
    found = 1
    for size in shape_of(x):
        found = size * found
    return host(found, node.get("out_type", "int32"))


@operator("Rank")
def _rank(node, x):
    return host(len(shape_of(x)))


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


@operator("LinSpace")
def _linspace(node, start, stop, count):
    return creation.linspace(tensor(start), tensor(stop), number(count))


@operator("ZerosLike OnesLike")
def _like(node, x):
    if isinstance(x, TensorList):
        return x.but([None] * len(x.items))
    return (creation.zeros_like if node.op == "ZerosLike" else creation.ones_like)(tensor(x))


@operator("OneHot")
def _one_hot(node, indices, depth, on, off):
    return creation.one_hot(tensor(indices), number(depth), tensor(on), tensor(off), node.get("axis", -1),
                            dtype_of(on))


@operator("Empty")
def _empty(node, shape):
    return creation.zeros(numbers(shape), node.get("dtype"))


@operator("EnsureShape")
def _ensure_shape(node, x):
    from dragon.vm.tensorflow.core.flow.asserts import ensure_shape
    shape = node.get("shape")
    known = None if shape is None else [None if size == -1 else size for size in shape]
    return ensure_shape(tensor(x), known)


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
    axes = node.get("squeeze_dims", [])
    if type(x) is Host:
        return x if not isinstance(x.numbers, list) else Host(x.numbers[0], x.dtype) if len(
            x.numbers) == 1 else x
    return array.squeeze(tensor(x), axes or None)


@operator("ExpandDims")
def _expand_dims(node, x, axis):
    if type(x) is Host and not isinstance(x.numbers, list):
        return Host([x.numbers], x.dtype)
    return array.expand_dims(tensor(x), number(axis))


@operator("Transpose ConjugateTranspose")
def _transpose(node, x, axes):
    x = array.transpose(tensor(x), numbers(axes))
    return ops.conj(x) if node.op == "ConjugateTranspose" else x


@operator("ReverseV2")
def _reverse(node, x, axes):
    if type(x) is Host and isinstance(x.numbers, list) and numbers(axes) in ([0], [-1]):
        return Host(x.numbers[::-1], x.dtype)
    return array.reverse(tensor(x), numbers(axes))


@operator("ReverseSequence")
def _reverse_sequence(node, x, lengths):
    return array.reverse_sequence(tensor(x), tensor(lengths), node.get("seq_dim"), node.get("batch_dim", 0))


@operator("Roll")
def _roll(node, x, shift, axis):
    return array.roll(tensor(x), numbers(shift), numbers(axis))


@operator("BroadcastTo")
def _broadcast_to(node, x, shape):
    return array.broadcast_to(tensor(x), numbers(shape))


@operator("BroadcastArgs")
def _broadcast_args(node, one, other):
    one, other = numbers(one), numbers(other)
    return host(list(array.broadcast_static_shape(_known(one), _known(other))), node.get("T", "int32"))


def _known(sizes):
    from dragon.vm.shared.tensors.shape import TensorShape
    return TensorShape(sizes)


@operator("Tile")
def _tile(node, x, multiples):
    return joining.tile(tensor(x), numbers(multiples))


@operator("Pad PadV2 MirrorPad")
def _pad(node, x, paddings, value=None):
    mode = node.get("mode", "CONSTANT") if node.op == "MirrorPad" else "CONSTANT"
    return array.pad(tensor(x), numbers(paddings), mode, 0 if value is None else tensor(value))


@operator("SpaceToBatchND BatchToSpaceND")
def _space_to_batch(node, x, block, sizes):
    function = array.space_to_batch_nd if node.op == "SpaceToBatchND" else array.batch_to_space
    return function(tensor(x), numbers(block), numbers(sizes))


@operator("SpaceToDepth DepthToSpace")
def _space_to_depth(node, x):
    from dragon.vm.tensorflow import nn
    function = nn.space_to_depth if node.op == "SpaceToDepth" else nn.depth_to_space
    return function(tensor(x), node.get("block_size"), node.get("data_format", "NHWC"))


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
    return joining.stack([tensor(part) for part in parts], node.get("axis", 0))


@operator("ParallelConcat")
def _parallel_concat(node, *parts):
    return joining.concat([tensor(part) for part in parts], 0)


@operator("Unpack")
def _unpack(node, x):
    if type(x) is Host and isinstance(x.numbers, list):
        return [Host(one, x.dtype) for one in x.numbers]
    return list(joining.unstack(tensor(x), node.get("num"), node.get("axis", 0)))


@operator("Split")
def _split(node, axis, x):
    return list(joining.split(tensor(x), node.get("num_split"), number(axis)))


@operator("SplitV")
def _split_v(node, x, sizes, axis):
    return list(joining.split(tensor(x), numbers(sizes), number(axis)))


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
    return gathering.gather(tensor(x), tensor(indices), axis=number(axis), batch_dims=node.get("batch_dims", 0))


@operator("Gather")
def _old_gather(node, x, indices):
    return gathering.gather(tensor(x), tensor(indices), axis=0)


@operator("Select")
def _select(node, condition, x, y):
    condition, x, y = tensor(condition), tensor(x), tensor(y)
    if condition.ndim == 1 and x.ndim > 1:
        condition = array.reshape(condition, [-1] + [1] * (x.ndim - 1))
    return gathering.where(condition, x, y)


@operator("SelectV2")
def _select_v2(node, condition, x, y):
    if type(condition) is Host and type(x) is Host and type(y) is Host and not isinstance(condition.numbers, list):
        return x if condition.numbers else y
    return gathering.where(tensor(condition), tensor(x), tensor(y))


@operator("ScatterNd")
def _scatter_nd(node, indices, updates, shape):
    return gathering.scatter_nd(tensor(indices), tensor(updates), numbers(shape))


rows(gathering, """
GatherNd gather_nd
Where where
TensorScatterUpdate tensor_scatter_nd_update
TensorScatterAdd tensor_scatter_nd_add
TensorScatterSub tensor_scatter_nd_sub
TensorScatterMax tensor_scatter_nd_max
TensorScatterMin tensor_scatter_nd_min
UnravelIndex unravel_index
""")


@operator("Unique")
def _unique(node, x):
    found = gathering.unique(tensor(x), node.get("out_idx", "int32"))
    return found[0], found[1]


@operator("UniqueWithCounts")
def _unique_with_counts(node, x):
    return tuple(gathering.unique_with_counts(tensor(x), node.get("out_idx", "int32")))


@operator("UniqueV2")
def _unique_v2(node, x, axis):
    if len(shape_of(x)) != 1:
        raise UnimplementedError(None, None, "saved_model: UniqueV2 of rows is not supported "
                                 f"(node '{node.name}' of function '{node.where}')")
    return _unique(node, x)


@operator("ListDiff")
def _list_diff(node, x, y):
    import numpy as np
    from dragon.vm.shared.data.rows import array_of
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    x = tensor(x)
    known = set(array_of(tensor(y)).reshape(-1).tolist())
    places = [place for place, one in enumerate(array_of(x).tolist()) if one not in known]
    chosen = convert_to_tensor(np.asarray(places, np.int64))
    return gathering.gather(x, chosen), ops.cast(chosen, node.get("out_idx", "int32"))


@operator("DynamicPartition")
def _dynamic_partition(node, data, partitions):
    return list(gathering.dynamic_partition(tensor(data), tensor(partitions), node.get("num_partitions")))


@operator("DynamicStitch ParallelDynamicStitch")
def _dynamic_stitch(node, *operands):
    half = len(operands) // 2
    return gathering.dynamic_stitch([tensor(one) for one in operands[:half]],
                                    [tensor(one) for one in operands[half:]])


@operator("LowerBound UpperBound")
def _bound(node, ordered, values):
    side = "left" if node.op == "LowerBound" else "right"
    return array.searchsorted(tensor(ordered), tensor(values), side, node.get("out_type", "int32"))


@plain("DeepCopy Snapshot")
def _copy(x):
    return x


@operator("MatrixBandPart")
def _band_part(node, x, lower, upper):
    from dragon.vm.tensorflow import linalg
    return linalg.band_part(tensor(x), number(lower), number(upper))


@operator("Copy CopyHost DebugIdentityV2")
def _as_it_is(node, x):
    return x
