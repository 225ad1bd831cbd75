"""Collectives that return new tensors, through which gradients flow; what they return is there at once."""
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.groups import ProcessGroup, _pg_map
from dragon.vm.torch.distributed.device_mesh import DeviceMesh
from dragon.vm.torch.distributed.making import _get_default_group, get_process_group_ranks, new_group

REDUCTIONS = {"sum": "sum", "avg": "average", "product": "product", "min": "minimum", "max": "maximum", "band": "and",
              "bor": "or", "bxor": "xor"}
_made = {}  # groups of lists of ranks


class AsyncCollectiveTensor(Tensor):
    """A tensor that is on its way, in programs that ask whether one is; here all are there.

    Parameters
    ----------
    elem : Tensor
        The tensor.

    """

    @staticmethod
    def __new__(cls, elem):
        made = elem.detach().as_subclass(cls)
        made.elem, made.completed = elem, True
        return made

    def wait(self):
        """Return the tensor."""
        return self.elem

    def trigger_wait(self):
        """Return the tensor."""
        return self.elem


def _resolve(who, group):
    """Return the group that is meant.

    Parameters
    ----------
    who : str
        Who asks.
    group : Union[ProcessGroup, DeviceMesh, Tuple[DeviceMesh, int], List[int], str]
        A group, a mesh of one axis, a mesh and an axis, ranks in the world, or a group's name.

    Returns
    -------
    ProcessGroup
        The group.

    """
    if group is None:
        return _get_default_group()
    if isinstance(group, ProcessGroup):
        return group
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError(f"{who}: Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh > 1D: "
                                 f"got {group}")
        return group.get_group()
    if isinstance(group, tuple) and len(group) == 2 and isinstance(group[0], DeviceMesh):
        return group[0].get_group(group[1])
    if isinstance(group, str):
        found = next((each for each in _pg_map if each.group_name == group), None)
        if found is None:
            raise RuntimeError(f"{who}: got the group name {group!r}, expected one of "
                               f"{[each.group_name for each in _pg_map]}")
        return found
    if isinstance(group, (list, tuple)) and group and all(isinstance(rank, int) for rank in group):
        ranks = tuple(sorted(group))
        known = next((each for each in _pg_map if tuple(get_process_group_ranks(each)) == ranks), None)
        return known or _made.setdefault(ranks, None) or _make_group(ranks)
    raise ValueError(f"{who}: Invalid type for group, must be one of List, Processgroup, DeviceMesh or (DeviceMesh, "
                     f"int): got {group!r}")


def _make_group(ranks):
    _made[ranks] = new_group(list(ranks), use_local_synchronization=True)
    return _made[ranks]


def _run(group, call):
    core = group._core
    return call(core.number)


def _reduction(who, word):
    found = REDUCTIONS.get(str(word).lower())
    if found is None:
        raise ValueError(f"{who}: got the reduction {word!r}, expected one of {', '.join(REDUCTIONS)}")
    return found


def _check_axis(who, x, axis):
    if not -x.ndim <= axis < max(x.ndim, 1):
        raise IndexError(f"{who}: got axis {axis} of a tensor of {x.ndim} axes, expected {-x.ndim} to {x.ndim - 1}")
    return axis % max(x.ndim, 1)


def wait_tensor(tensor):
    """Return a tensor, which is there."""
    return tensor.wait() if isinstance(tensor, AsyncCollectiveTensor) else tensor


def all_reduce(self, reduceOp, group, tag=""):
    """Return the reduction over all processes, in each, by "sum", "avg", "product", "min", "max" and so on."""
    group = _resolve("all_reduce", group)
    word = _reduction("all_reduce", reduceOp)
    return _run(group, lambda number: ops.all_reduce(ops.contiguous(self), number, word))


def broadcast(self, src, group, tag=""):
    """Return the tensor of one process, by its rank in the world."""
    group = _resolve("broadcast", group)
    root = get_process_group_ranks(group).index(src)
    return _run(group, lambda number: ops.broadcast_from(ops.contiguous(self), number, root))


def all_gather_tensor(self, gather_dim, group, tag=""):
    """Return the tensors of all processes, one after the other along an axis."""
    group, axis = _resolve("all_gather_tensor", group), _check_axis("all_gather_tensor", self, gather_dim)
    rows = ops.contiguous(ops.moveaxis(self, axis, 0)) if axis else ops.contiguous(self)
    rows = _run(group, lambda number: ops.all_gather(rows, number))
    return ops.contiguous(ops.moveaxis(rows, 0, axis)) if axis else rows


def reduce_scatter_tensor(self, reduceOp, scatter_dim, group, tag=""):
    """Return this process's part, along an axis, of the reduction over all."""
    who = "reduce_scatter_tensor"
    group, axis = _resolve(who, group), _check_axis(who, self, scatter_dim)
    if self.shape[axis] % group.size():
        raise AssertionError(f"input dimension {axis} ({self.shape[axis]} must be a multiple of group_size "
                             f"{group.size()})")
    word = _reduction(who, reduceOp)
    rows = ops.contiguous(ops.moveaxis(self, axis, 0)) if axis else ops.contiguous(self)
    rows = _run(group, lambda number: ops.reduce_scatter(rows, number, word))
    return ops.contiguous(ops.moveaxis(rows, 0, axis)) if axis else rows


def all_to_all_single(self, output_split_sizes, input_split_sizes, group, tag=""):
    """Return the rows that all processes sent here; evenly, or as many as is said for each process."""
    group = _resolve("all_to_all_single", group)
    sends = None if input_split_sizes is None else list(input_split_sizes)
    receives = None if output_split_sizes is None else list(output_split_sizes)
    return _run(group, lambda number: ops.all_to_all(ops.contiguous(self), number, sends, receives))


def permute_tensor(self, src_dst, group, tag=""):
    """Return the tensor of another process: `src_dst` has, for each process, whom it sends to.

    Parameters
    ----------
    self : Tensor
        The tensor.
    src_dst : List[int]
        For each rank of the group, the rank that gets its tensor.
    group : Union[ProcessGroup, DeviceMesh, Tuple[DeviceMesh, int], List[int], str]
        The processes.
    tag : str, optional
        Accepted, and not needed.

    Returns
    -------
    Tensor
        The tensor that was sent here.

    """
    group = _resolve("permute_tensor", group)
    size, rank = group.size(), group.rank()
    if sorted(src_dst) != list(range(size)):
        raise ValueError(f"permute_tensor: got {list(src_dst)}, expected each rank from 0 to {size - 1} once")
    sends, receives = [0] * size, [0] * size
    sends[src_dst[rank]] = receives[list(src_dst).index(rank)] = self.numel()
    rows = ops.reshape(ops.contiguous(self), (-1,))
    return ops.reshape(_run(group, lambda number: ops.all_to_all(rows, number, sends, receives)), tuple(self.shape))


def all_reduce_coalesced(self, reduceOp, group, tag=""):
    """Return the reductions of several tensors."""
    return [all_reduce(each, reduceOp, group, tag) for each in self]


def all_gather_into_tensor_coalesced(self, group, tag=""):
    """Return the tensors of all processes one after the other, of several tensors."""
    return [all_gather_tensor(each, 0, group, tag) for each in self]


def reduce_scatter_tensor_coalesced(inputs, reduceOp, scatter_dim, group, tag=""):
    """Return this process's parts of the reductions of several tensors."""
    if len(scatter_dim) != len(inputs):
        raise AssertionError(f"Length of scatter_dim ({len(scatter_dim)}) must equal length of inputs ({len(inputs)})")
    return [reduce_scatter_tensor(each, reduceOp, axis, group, tag) for each, axis in zip(inputs, scatter_dim)]


def all_gather_tensor_inplace(output_tensor, input_tensor, group, async_op=False, tag="", gather_dim=0):
    """Put the tensors of all processes into one."""
    return output_tensor.copy_(all_gather_tensor(input_tensor, gather_dim, group, tag))


def reduce_scatter_tensor_inplace(output, input, op="sum", group=None, async_op=False, scatter_dim=0, tag=""):
    """Put this process's part of the reduction over all into a tensor."""
    return output.copy_(reduce_scatter_tensor(input, op, scatter_dim, group, tag))


all_gather_tensor_autograd, reduce_scatter_tensor_autograd = all_gather_tensor, reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single
all_gather_single = all_gather_tensor
