"""Operators that put tensors together, and those that pick rows."""
from dragon.dialects.aten.table import factories
from dragon.distributed.globals.layout import shape_of
from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_partial, is_split
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.tensor._calls import Decision
from dragon.vm.torch.distributed.tensor._ops.table import rule, ways

SUM = Partial()


@ways("cat stack")
def _join(call):
    """Cut all operands along an axis other than the one along which they are joined."""
    operands, adds = call.operands, call.packet == "stack"
    ndim = max(operand.ndim for operand in operands)
    place = call.values.get("dim", 0) % (ndim + adds)
    found = []
    for axis in range(ndim):
        if not adds and axis == place or any(operand.ndim != ndim for operand in operands):
            continue
        for cut in {each for operand in operands for each in call.splits(operand, axis)}:
            found.append(([cut] * len(operands), [Split(axis + (adds and axis >= place), cut.pieces)]))
    for signature in {each for operand in operands for each in operand.signatures if is_partial(each)}:
        found.append(([signature] * len(operands), [signature]))
    return found


@rule("embedding")
def _embedding(call):
    """Look rows up: in a table whose columns are cut, for indices that are cut, or each process in its own rows."""
    table, indices = call.operands
    wanted, taken, result, masked = [], [], [], False
    for axis, (cut, index) in enumerate(zip(table.signatures, indices.signatures)):
        if is_split(index):
            way = BROADCAST, index, index
        elif is_split(cut, 1):
            way = cut, BROADCAST, Split(indices.ndim, cut.pieces)
        elif is_split(cut, 0) and cut.pieces == 1:
            way, masked = (cut, BROADCAST, SUM), True
        else:
            way = BROADCAST, BROADCAST, BROADCAST
        for found, signature in zip((wanted, taken, result), way):
            found.append(signature)

    def compute(parts):
        weight, index = parts
        if not masked:
            return call.compute(parts)
        mesh = call.mesh._globals
        local = call.operands[0].spec
        spec = call.spec(wanted, local.tensor_meta)
        start, rows = spec.layout.offsets(mesh.coordinate)[0], weight.shape[0]
        shifted = index - start
        outside = ops.logical_or(shifted < 0, shifted >= rows)
        if rows == 0:
            return ops.zeros((*index.shape, weight.shape[1]), dtype=weight.dtype, device=weight.device)
        found = ops.embedding(weight, ops.masked_fill(shifted, outside, 0))
        return ops.masked_fill(found, outside.unsqueeze(-1), 0)
    return Decision([tuple(wanted), tuple(taken)], [tuple(result)], compute)


@ways("embedding_dense_backward")
def _embedding_backward(call):
    grad, indices = call.operands
    found = [([Split(indices.ndim), BROADCAST], [Split(1)])]
    for axis in range(indices.ndim):
        found.extend(([cut, cut], [SUM]) for cut in call.splits(grad, axis))
    return [*found, ([SUM, BROADCAST], [SUM])]


@ways("gather")
def _gather(call):
    """Pick elements along an axis that is whole; along the others, operands of the same sizes are cut."""
    x, index = call.operands
    place = call.values["dim"] % max(x.ndim, 1)
    found = [([BROADCAST, cut], [cut]) for axis in range(index.ndim) for cut in call.splits(index, axis)]
    return [*found, *(([cut, cut], [cut]) for axis in range(x.ndim)
                      if axis != place and x.shape[axis] == index.shape[axis] for cut in call.splits(x, axis))]


@ways("scatter scatter_add scatter_reduce")
def _scatter(call):
    """Put elements along an axis that is whole; along the others, operands of the same sizes are cut."""
    place = call.values["dim"] % max(call.operands[0].ndim, 1)
    shapes = [operand.shape for operand in call.operands]
    return [([cut] * len(shapes), [cut]) for axis in range(call.operands[0].ndim)
            if axis != place and all(len(shape) > axis and shape[axis] == shapes[0][axis] for shape in shapes)
            for cut in call.splits(call.operands[0], axis)]


@ways("dragon.scatter_write")
def _scatter_write(call):
    """Put elements as `scatter` does; an index may be cut where what is written into is not yet."""
    place = call.values["axis"] % max(call.operands[0].ndim, 1)
    shapes = [operand.shape for operand in call.operands]
    cuts = [cut for axis in range(call.operands[0].ndim)
            if axis != place and all(len(shape) > axis and shape[axis] == shapes[0][axis] for shape in shapes)
            for cut in {each: None for operand in call.operands for each in call.splits(operand, axis)}]
    return [([cut] * len(shapes), [cut]) for cut in cuts]


@ways("embedding_bag")
def _embedding_bag(call):
    """Look bags up in a table whose columns are cut."""
    others = [BROADCAST] * (len(call.operands) - 1)
    count = 2 if call.values.get("mode") == 2 else 1  # which row was the greatest
    return [([cut, *others], [cut, cut if count == 2 else BROADCAST]) for cut in call.splits(call.operands[0], 1)]


@ways("dragon.embedding_bag_backward")
def _embedding_bag_backward(call):
    """Give a table whose columns are cut its gradient; that of factors is a sum over columns."""
    table, grad = call.operand("weight"), call.operand("dy")
    found = []
    for cut in {each: None for operand in (table, grad) for each in call.splits(operand, 1)}:
        wanted = [cut if operand.ndim == 2 else BROADCAST for operand in call.operands]
        found.append((wanted, [cut, SUM]))
    return found


@ways("index_add index_copy index_fill")
def _index_write(call):
    x, place = call.operands[0], call.values["dim"] % max(call.operands[0].ndim, 1)
    rest = [operand.ndim == x.ndim for operand in call.operands[1:]]
    return [([cut, *(cut if whole else BROADCAST for whole in rest)], [cut]) for axis in range(x.ndim)
            if axis != place for cut in call.splits(x, axis)]


@rule("index")
def _index(call):
    """Index by tensors: leading axes that all indices share may be cut, and axes behind that nobody indexes."""
    x, indices = call.operands[0], call.operands[1:]
    given = list(call.values["indices"])
    indexed = [axis for axis, each in enumerate(given) if each is not None]
    ndim = max(operand.ndim for operand in indices)
    adjacent = indexed == list(range(indexed[0], indexed[-1] + 1))
    start = indexed[0] if adjacent else 0
    if any(operand.local.dtype == OBJECTS["bool"] for operand in indices):
        return None
    wanted, taken, result = [], [[] for _ in indices], []
    for axis in range(call.mesh.ndim):
        cut, index = x.signatures[axis], next(
            (operand.signatures[axis] for operand in indices if is_split(operand.signatures[axis])), None)
        same = all(operand.shape == indices[0].shape for operand in indices)
        if index is not None and same and not is_split(cut):
            way = BROADCAST, index, Split(index.axis + start, index.pieces)
        elif is_split(cut) and cut.axis not in indexed:
            before = sum(other < cut.axis for other in indexed)
            place = cut.axis - before + (ndim if not adjacent or cut.axis > start else 0)
            way = cut, BROADCAST, Split(place, cut.pieces)
        else:
            way = BROADCAST, BROADCAST, BROADCAST
        wanted.append(way[0])
        result.append(way[2])
        for each in taken:
            each.append(way[1])
    return Decision([tuple(wanted), *map(tuple, taken)], [tuple(result)])


@ways("constant_pad_nd")
def _pad(call):
    x, pads = call.operands[0], list(call.values["pad"])
    touched = {x.ndim - 1 - place // 2 for place, size in enumerate(pads) if size}
    return [([cut], [cut]) for axis in range(x.ndim) if axis not in touched for cut in call.splits(x, axis)]


@ways("one_hot")
def _one_hot(call):
    x = call.operands[0]
    return [([cut], [cut]) for axis in range(x.ndim) for cut in call.splits(x, axis)
            if call.values.get("num_classes", -1) != -1]


@rule(" ".join(name for name in factories() if name.startswith("new_")))
def _new(call):
    """Make a tensor as another is, cut as it if it has its shape, and whole else."""
    x, size = call.operands[0], tuple(call.values["size"])
    same = size == tuple(x.shape)
    result = tuple(cut if same and is_split(cut) else BROADCAST for cut in x.signatures)
    local = list(shape_of(size, result, call.mesh.shape, call.mesh.get_coordinate()))

    def compute(parts):
        args = (call.args[0], local, *call.args[2:])
        if call.packet == "new_empty_strided":
            return parts[0].new_empty(local)
        return call.compute(parts, args)
    return Decision([x.signatures], [result], compute)
