"""What the processes of a group do together with tensors: new tensors, through which gradients flow."""
from dragon import ops
from dragon.distributed.errors import DistributedError
from dragon.distributed.group import default_group
from dragon.distributed.meeting import world


def _group(group):
    group = group or default_group() or world()
    if group is None:
        raise DistributedError("collective: got no group, expected one: call `join_world`, or name a group")
    return group


def all_reduce(x, reduction="sum", group=None):
    """Return the reduction over all ranks, on each: sum, average, product, minimum, maximum, and, or, xor."""
    group = _group(group)
    return ops.all_reduce(x, group.number, reduction)


def all_gather(x, group=None):
    """Return the tensors of all ranks, one after the other along the first axis."""
    group = _group(group)
    return ops.all_gather(x, group.number)


def reduce_scatter(x, reduction="sum", group=None):
    """Return this rank's part, along the first axis, of the reduction over all ranks."""
    group = _group(group)
    return ops.reduce_scatter(x, group.number, reduction)


def broadcast(x, root=0, group=None):
    """Return the tensor of one rank."""
    group = _group(group)
    return ops.broadcast_from(x, group.number, root)


def reduce(x, root=0, reduction="sum", group=None):
    """Return the reduction over all ranks, on one of them; the others get what they gave."""
    group = _group(group)
    return ops.reduce_to(x, group.number, root, reduction)


def gather(x, root=0, group=None):
    """Return the tensors of all ranks, one after the other, on one of them; no rows on the others."""
    group = _group(group)
    return ops.gather_to(x, group.number, root)


def scatter(x, root=0, shape=None, group=None):
    """Return this rank's part of one rank's tensor; others give its shape, or a tensor of its shape and dtype."""
    group = _group(group)
    return ops.scatter_from(x, group.number, root, shape)


def all_to_all(x, sends=None, receives=None, group=None):
    """Return the rows that all ranks sent here; evenly, or as many as is said for each rank."""
    group = _group(group)
    return ops.all_to_all(x, group.number, sends, receives)


def barrier(group=None):
    """Return once all ranks have called this."""
    group = _group(group)
    group.barrier()


def send(x, to, tag=0, group=None):
    """Send a tensor to a rank."""
    group = _group(group)
    group.post(ops.contiguous(x.detach()), to, tag, True).wait(group.timeout)


def receive(x, source=-1, tag=0, group=None):
    """Receive a tensor of a rank, or of any, into one in row-major order; return whose it was."""
    group = _group(group)
    message = group.post(x.detach(), source, tag, False)
    message.wait(group.timeout)
    return message.rank
