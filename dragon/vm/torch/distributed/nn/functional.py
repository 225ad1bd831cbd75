"""Collectives that gradients flow through: what comes back goes the other way round."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.collectives import _check_parts, _root, _weighed
from dragon.vm.torch.distributed.distributed_c10d import ReduceOp
from dragon.vm.torch.distributed.making import _group

WORLD = None  # the default group


def _parts(rows, like):
    """Return rows, which follow each other, as a tuple of tensors of one shape."""
    return tuple(part.reshape(like.shape) for part in ops.chunk(rows, rows.numel() // max(like.numel(), 1), 0))


def _rows(tensors):
    return ops.cat([tensor.reshape(-1) for tensor in tensors], 0)


def broadcast(tensor, src, group=WORLD):
    """Return the tensor of one process, in all of them."""
    group = _group(group)
    return ops.broadcast_from(tensor, group._core.number, _root(group, src, None, "src"))


def gather(tensor, dst=0, group=WORLD):
    """Return the tensors of all processes, in one of them; zeros in the others."""
    group = _group(group)
    root = _root(group, dst, None, "dst")
    rows = ops.gather_to(tensor.reshape(-1), group._core.number, root)
    if group.rank() == root:
        return _parts(rows, tensor)
    # No rows, whose sum hangs on the tape all the same: the gradient comes from the one that has them.
    return tuple(ops.add(ops.zeros_like(tensor.detach()), rows.sum()) for _ in range(group.size()))


def scatter(tensors, src=0, group=WORLD):
    """Return one of the tensors for each process."""
    group = _group(group)
    like = tensors[group.rank()]
    made = ops.scatter_from(_rows(tensors), group._core.number, _root(group, src, None, "src"), [like.numel()])
    return made.reshape(like.shape)


def reduce(tensor, dst, op=ReduceOp.SUM, group=WORLD):
    """Return the tensor reduced over all processes, in one of them."""
    group = _group(group)
    given, reduction = _weighed("reduce", tensor, op)
    return ops.reduce_to(given, group._core.number, _root(group, dst, None, "dst"), reduction)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=WORLD):
    """Return one of the tensors, reduced, for each process."""
    group = _group(group)
    _check_parts("reduce_scatter", input_list, group, output)
    given, reduction = _weighed("reduce_scatter", _rows(input_list), op)
    rows = ops.reduce_scatter(given, group._core.number, reduction)
    return output.copy_(rows.reshape(output.shape))


def all_gather(tensor, group=WORLD):
    """Return the tensors of all processes."""
    group = _group(group)
    return tuple(part.reshape(tensor.shape) for part in
                 ops.chunk(ops.all_gather(tensor.reshape(-1), group._core.number), group.size(), 0))


def all_to_all(output_tensor_list, input_tensor_list, group=WORLD):
    """Return the tensors that all processes sent here."""
    group = _group(group)
    counts = [tensor.numel() for tensor in output_tensor_list]
    rows = ops.all_to_all(_rows(input_tensor_list), group._core.number,
                          [tensor.numel() for tensor in input_tensor_list], counts)
    return tuple(output.copy_(part.reshape(output.shape))
                 for output, part in zip(output_tensor_list, ops.split_with_sizes(rows, counts, 0)))


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=WORLD):
    """Return the parts of a tensor that all processes sent here."""
    group = _group(group)
    rows = ops.all_to_all(input, group._core.number, input_split_sizes or None, output_split_sizes or None)
    return output.copy_(rows.reshape(output.shape))


def all_reduce(tensor, op=ReduceOp.SUM, group=WORLD):
    """Return the tensor reduced over all processes."""
    given, reduction = _weighed("all_reduce", tensor, op)
    return ops.all_reduce(given, _group(group)._core.number, reduction)
