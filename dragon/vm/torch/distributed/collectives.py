"""What all processes of a group do together with tensors, in place as PyTorch has it, and not on the tape."""
from datetime import timedelta

from dragon import _C
from dragon.core import warnings
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.groups import ReduceOp, Work, _world
from dragon.vm.torch.distributed.making import _group, _rank_not_in_group, get_group_rank

_SUM = ReduceOp.SUM


def _require_tensor(tensor, name="tensor"):
    """Raise TypeError for what is no tensor."""
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor but got "
                        f"{type(tensor)} instead.")
    if type(tensor) is not Tensor and hasattr(tensor, "_spec"):
        raise TypeError(f"got a tensor on a mesh as `{name}`, {tensor._spec}, expected a plain one, as its to_local() "
                        "is: what processes send of it would need calls among them")


def _require_tensors(tensors, name):
    """Raise TypeError for what is no list of tensors."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(tensor, _C.Tensor) for tensor in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor] but got "
                        f"{type(tensors)} instead.")
    for tensor in tensors:
        _require_tensor(tensor, name)


def _member(group, who):
    """Return a group; None, with a warning, where this process is outside."""
    group = _world["default"] or _group() if group is None else group
    if _rank_not_in_group(group):
        warnings.warn(f"Running {who} on global rank {_group().rank()} which does not belong to the given group.")
        return None
    core = getattr(group, "_core", None)
    if core is not None and core.number is None:
        raise ValueError(f"{who}: got group {group.group_name!r}, which was destroyed, expected one that is there: "
                         "Invalid process group specified or has been destroyed")
    if core is None:
        raise TypeError(f"{who}: got {group!r} of type {type(group).__name__} as a group, expected a ProcessGroup, as "
                        "new_group makes them, or None for the default one")
    return group


def _run(core, call, result, async_op, like=None):
    """Make a call in its turn, now or in the background; `like` is one of the tensors that it is about."""
    if async_op or core.begun is not None:
        work = Work(core.runner.begin(call, result, result[0] if like is None and result else like))
        if core.begun is not None:
            core.begun.append(work)
        return work if async_op else None
    call()
    return None


def _root(group, rank, group_rank, name):
    """Return a rank in the group, given as one in the world or as one in the group."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"Cannot specify both {name} and group_{name}")
    if rank is None and group_rank is None:
        return 0
    return get_group_rank(group, rank) if group_rank is None else int(group_rank)


def _check_parts(who, tensors, group, like=None):
    """Raise unless there is one tensor for each process, of one shape and dtype."""
    if len(tensors) != group.size():
        raise ValueError(f"{who}: got {len(tensors)} tensors, expected {group.size()}, one for each process")
    first = tensors[0] if like is None else like
    for tensor in tensors:
        if tensor.dtype != first.dtype or tensor.shape != first.shape:
            raise ValueError(f"{who}: got tensors of {tensor.dtype} and shape {tuple(tensor.shape)} beside "
                             f"{first.dtype} and {tuple(first.shape)}, expected the same of all")


def _weighed(who, tensor, op):
    """Return what is to be reduced, and what the engine calls the way."""
    if not isinstance(op, ReduceOp.RedOpType):
        raise TypeError(f"{who}: got {op!r} of type {type(op).__name__} as a reduction, expected one of ReduceOp's, "
                        "such as ReduceOp.SUM")
    if op.factor is not None:
        return ops.mul(tensor, op.factor), "sum"
    if op.reduction is None:
        raise RuntimeError(f"{who}: got {op!r}, expected one of SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR and BXOR")
    return tensor, op.reduction


def _reduce_into(tensor, op, number):
    """Reduce a tensor where it is."""
    given, reduction = _weighed("all_reduce", tensor, op)
    ops.all_reduce(given, number, reduction, out=tensor)


def all_reduce(tensor, op=_SUM, group=None, async_op=False):
    """Reduce a tensor over all processes, in place."""
    _require_tensor(tensor)
    if (group := _member(group, "all_reduce")) is None:
        return None
    core, held = group._core, tensor.detach() if tensor.requires_grad else tensor
    if async_op or core.begun is not None:
        return _run(core, lambda: _reduce_into(held, op, core.number), [tensor], async_op)
    _reduce_into(held, op, core.number)
    return None


def all_reduce_coalesced(tensors, op=_SUM, group=None, async_op=False):
    """Reduce tensors over all processes, in place."""
    _require_tensors(tensors, "tensors")
    if (group := _member(group, "all_reduce_coalesced")) is None:
        return None
    held, number = [tensor.detach() for tensor in tensors], group._core.number

    def call():
        for tensor in held:
            _reduce_into(tensor, op, number)
    return _run(group._core, call, list(tensors), async_op)


def reduce(tensor, dst=None, op=_SUM, group=None, async_op=False, group_dst=None):
    """Reduce a tensor over all processes, for one of them."""
    _require_tensor(tensor)
    if (group := _member(group, "reduce")) is None:
        return None
    root, held, number = _root(group, dst, group_dst, "dst"), tensor.detach(), group._core.number
    given, reduction = _weighed("reduce", held, op)
    return _run(group._core, lambda: ops.reduce_to(given, number, root, reduction, out=held), [tensor], async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Give all processes the tensor of one."""
    _require_tensor(tensor)
    if (group := _member(group, "broadcast")) is None:
        return None
    root, held, number = _root(group, src, group_src, "src"), tensor.detach(), group._core.number
    return _run(group._core, lambda: ops.broadcast_from(held, number, root, out=held), [tensor], async_op)


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Wait for all processes."""
    if (group := _member(group, "barrier")) is None:
        return None
    core, device = group._core, _barrier_device(group, device_ids)
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"barrier: got timeout {timeout!r}, expected a datetime.timedelta")
    if device is None:
        return _run(core, core.barrier, [], async_op)
    core.barrier(device)  # the host waits for its device, whether it is asked to or not
    return Work(_Done()) if async_op else None


class _Done:
    """What has ended already."""

    result, error = [], None

    def is_done(self):
        return True

    def wait(self, seconds=None):
        pass

    def then(self, follower):
        follower(self)


def _barrier_device(group, device_ids):
    """Return the device whose work a barrier waits for; None where the group's tensors are the host's."""
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    if group._core.services.get("cpu") != "nobody":
        return None
    if device_ids:
        return f"cuda:{int(device_ids[0])}"
    return str(group.bound_device_id or object_device(group))


def object_device(group):
    """Return the device of tensors that stand for objects: the host, unless the group carries none of its."""
    from dragon.core import accelerator
    if group._core.services.get("cpu") != "nobody":
        return "cpu"
    return str(group.bound_device_id or f"cuda:{accelerator.cuda_index()}")


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """Wait for all processes; one that does not come is named."""
    if group is not None and not _rank_not_in_group(group) or _world["default"] is not None:
        chosen = _world["default"] if group is None else group
        if not _rank_not_in_group(chosen) and chosen._core.services.get("cpu") == "nobody":
            raise ValueError("monitored_barrier is only implemented for GLOO backend: got a group of "
                             f"{chosen.name()!r}, expected one of gloo")
    barrier(group)


def _deal_out(rows, tensors):
    """Copy rows, which follow each other, to tensors."""
    for part, tensor in zip(ops.chunk(rows, len(tensors), 0), tensors):
        tensor.copy_(part.reshape(tensor.shape))


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fill a list with the tensors of all processes."""
    _require_tensors(tensor_list, "tensor_list")
    _require_tensor(tensor)
    if (group := _member(group, "all_gather")) is None:
        return None
    _check_parts("all_gather", tensor_list, group)
    held, number, targets = tensor.detach().reshape(-1), group._core.number, [each.detach() for each in tensor_list]
    return _run(group._core, lambda: _deal_out(ops.all_gather(held, number), targets), list(tensor_list), async_op)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """Fill a list for each process with its tensors."""
    if (group := _member(group, "all_gather_coalesced")) is None:
        return None
    if len(output_tensor_lists) != group.size() or any(len(each) != len(input_tensor_list)
                                                       for each in output_tensor_lists):
        raise RuntimeError(f"all_gather_coalesced: invalid output size: got {len(output_tensor_lists)} lists for "
                           f"{len(input_tensor_list)} tensors, expected a list for each process, of one for each")
    for outputs in output_tensor_lists:
        for index, (output, tensor) in enumerate(zip(outputs, input_tensor_list)):
            if output.shape != tensor.shape:
                raise RuntimeError(f"all_gather_coalesced: invalid size of output tensor at index {index}: got "
                                   f"{tuple(output.shape)}, expected {tuple(tensor.shape)}")
    works = [all_gather([outputs[index] for outputs in output_tensor_lists], tensor, group, True)
             for index, tensor in enumerate(input_tensor_list)]
    if async_op:
        return works[-1]
    for work in works:
        work.wait()
    return None


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Fill a tensor with those of all processes, one after another."""
    _require_tensor(output_tensor, "output_tensor")
    _require_tensor(input_tensor, "input_tensor")
    if (group := _member(group, "all_gather_into_tensor")) is None:
        return None
    if output_tensor.numel() != input_tensor.numel() * group.size():
        raise ValueError(f"output tensor size must be equal to world_size times input tensor size: got "
                         f"{output_tensor.numel()} elements for {input_tensor.numel()} of {group.size()} processes")
    held, number = input_tensor.detach().reshape(-1), group._core.number
    target = output_tensor.detach()
    return _run(group._core, lambda: _into(target, lambda out: ops.all_gather(held, number, out=out)), [output_tensor],
                async_op)


def _into(target, call):
    """Have a call write elements into a tensor, in row-major order."""
    if target.is_contiguous():
        call(target.view(-1))
    else:
        rows = ops.empty(target.numel(), dtype=target.dtype, device=target.device)
        call(rows)
        target.copy_(rows.reshape(target.shape))


_all_gather_base = all_gather_single = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Fill a list of one process with the tensors of all."""
    _require_tensor(tensor)
    if (group := _member(group, "gather")) is None:
        return None
    root = _root(group, dst, group_dst, "dst")
    mine = group.rank() == root
    if mine and gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not mine and gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if mine:
        _check_parts("gather", gather_list, group, tensor)
    held, number = tensor.detach().reshape(-1), group._core.number
    targets = [each.detach() for each in gather_list] if mine else []

    def call():
        rows = ops.gather_to(held, number, root)
        if mine:
            _deal_out(rows, targets)
    return _run(group._core, call, list(gather_list or ()), async_op, held)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Give each process one tensor of a list."""
    _require_tensor(tensor)
    if (group := _member(group, "scatter")) is None:
        return None
    root = _root(group, src, group_src, "src")
    mine = group.rank() == root
    if mine and scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if not mine and scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    if mine:
        _check_parts("scatter", scatter_list, group, tensor)
    target, number = tensor.detach(), group._core.number
    parts = [each.detach().reshape(-1) for each in scatter_list] if mine else []

    def call():
        rows = ops.cat(parts, 0) if mine else target.reshape(-1)
        target.copy_(ops.scatter_from(rows, number, root, [target.numel()]).reshape(target.shape))
    return _run(group._core, call, [tensor], async_op)


def _reduce_scatter_into(target, parts, op, number):
    given, reduction = _weighed("reduce_scatter", parts, op)
    rows = ops.reduce_scatter(given, number, reduction)
    target.copy_(rows.reshape(target.shape))


def reduce_scatter(output, input_list, op=_SUM, group=None, async_op=False):
    """Reduce each tensor of a list, and give each process one."""
    _require_tensor(output, "output")
    _require_tensors(input_list, "input_list")
    if (group := _member(group, "reduce_scatter")) is None:
        return None
    _check_parts("reduce_scatter", input_list, group, output)
    parts, target, number = [each.detach().reshape(-1) for each in input_list], output.detach(), group._core.number
    return _run(group._core, lambda: _reduce_scatter_into(target, ops.cat(parts, 0), op, number), [output], async_op)


def reduce_scatter_tensor(output, input, op=_SUM, group=None, async_op=False):
    """Reduce a tensor, and give each process a part."""
    _require_tensor(output, "output")
    _require_tensor(input, "input")
    if (group := _member(group, "reduce_scatter_tensor")) is None:
        return None
    if output.numel() * group.size() != input.numel():
        raise ValueError(f"input tensor must be the same size as output size times world size: got {input.numel()} "
                         f"elements for {output.numel()} of {group.size()} processes")
    rows, target, number = input.detach().reshape(-1), output.detach(), group._core.number
    return _run(group._core, lambda: _reduce_scatter_into(target, rows, op, number), [output], async_op)


_reduce_scatter_base = reduce_scatter_single = reduce_scatter_tensor


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Send one tensor of a list to each process."""
    _require_tensors(output_tensor_list, "output_tensor_list")
    _require_tensors(input_tensor_list, "input_tensor_list")
    if (group := _member(group, "all_to_all")) is None:
        return None
    for tensors in (output_tensor_list, input_tensor_list):
        if len(tensors) != group.size():
            raise ValueError(f"all_to_all: got {len(tensors)} tensors, expected {group.size()}, one for each process")
    parts, targets = ([each.detach() for each in tensors] for tensors in (input_tensor_list, output_tensor_list))
    number = group._core.number

    def call():
        rows = ops.all_to_all(ops.cat([part.reshape(-1) for part in parts], 0), number,
                              [part.numel() for part in parts], [target.numel() for target in targets])
        at = 0
        for target in targets:
            target.copy_(rows[at:at + target.numel()].reshape(target.shape))
            at += target.numel()
    return _run(group._core, call, list(output_tensor_list), async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Send one part of a tensor to each process."""
    _require_tensor(output, "output")
    _require_tensor(input, "input")
    if (group := _member(group, "all_to_all_single")) is None:
        return None
    held, target, number = input.detach(), output.detach(), group._core.number
    sends = [int(count) for count in input_split_sizes] if input_split_sizes else None
    receives = [int(count) for count in output_split_sizes] if output_split_sizes else None
    if receives is None and sends is not None:
        receives = [len(output) // group.size()] * group.size()

    def call():
        target.copy_(ops.all_to_all(held, number, sends, receives).reshape(target.shape))
    return _run(group._core, call, [output], async_op)


def supports_complex(reduceOp):
    """Return whether a way to reduce takes complex numbers."""
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM, ReduceOp.PRODUCT)
