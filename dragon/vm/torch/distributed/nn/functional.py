"""Collectives that gradients flow through; among one process each gives back what it was given."""
from dragon.vm.torch.distributed.distributed_c10d import ReduceOp, _group, _only, _same

WORLD = None  # the default group


def broadcast(tensor, src, group=WORLD):
    """Return the tensor of one process, in all of them."""
    _group(group)
    _only(src, "broadcast")
    return tensor.clone()


def gather(tensor, dst=0, group=WORLD):
    """Return the tensors of all processes, in one of them."""
    _group(group)
    _only(dst, "gather")
    return (tensor.clone(),)


def scatter(tensors, src=0, group=WORLD):
    """Return one of the tensors for each process."""
    _group(group)
    _only(src, "scatter")
    return _same("scatter", tensors).clone()


def reduce(tensor, dst, op=ReduceOp.SUM, group=WORLD):
    """Return the tensor reduced over all processes, in one of them."""
    _group(group)
    _only(dst, "reduce")
    return tensor.clone()


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=WORLD):
    """Return one of the tensors, reduced, for each process."""
    _group(group)
    return output.copy_(_same("reduce_scatter", input_list))


def all_gather(tensor, group=WORLD):
    """Return the tensors of all processes."""
    _group(group)
    return (tensor.clone(),)


def all_to_all(output_tensor_list, input_tensor_list, group=WORLD):
    """Return the tensors that all processes sent here."""
    _group(group)
    return (_same("all_to_all", output_tensor_list).copy_(_same("all_to_all", input_tensor_list)),)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=WORLD):
    """Return the parts of a tensor that all processes sent here."""
    _group(group)
    return output.copy_(input)


def all_reduce(tensor, op=ReduceOp.SUM, group=WORLD):
    """Return the tensor reduced over all processes."""
    _group(group)
    return tensor.clone()
