"""Collectives of a process that is alone: it sends to itself, and reduces one value."""
import copy
import os
from datetime import timedelta

from dragon import _C
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.distributed import groups as _groups, rendezvous as _rendezvous
from dragon.vm.torch.distributed.files import FileStore  # noqa: F401
from dragon.vm.torch.distributed.groups import (Backend, DistBackendError, DistError, DistNetworkError,  # noqa: F401
                                                DistStoreError, GroupMember, P2POp, ProcessGroup, ReduceOp, Work,
                                                _pg_map, _world)
from dragon.vm.torch.distributed.options import (AllreduceCoalescedOptions, AllreduceOptions,  # noqa: F401
                                                 AllToAllOptions, BackendConfig, BarrierOptions, BroadcastOptions,
                                                 BuiltinCommHookType, GatherOptions, ReduceOptions,
                                                 ReduceScatterOptions, ScatterOptions)
from dragon.vm.torch.distributed.rendezvous import register_rendezvous_handler, rendezvous  # noqa: F401
from dragon.vm.torch.distributed.stores import HashStore, PrefixStore, Store, TCPStore  # noqa: F401

default_pg_timeout = timedelta(minutes=30)
_BACKENDS = ("gloo", "nccl", "mpi", "ucc", "xccl", "fake")


def is_initialized():
    """Return whether there is a default group."""
    return _world["default"] is not None


def is_torchelastic_launched():
    """Return whether the elastic launcher started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend):
    """Return whether a backend can be used: only what needs no other process."""
    return backend.lower() == "gloo"


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None,
                       group_name="", pg_options=None, device_id=None, _ranks=None):
    """Make the default group, of this process alone.

    Parameters
    ----------
    backend : str, optional
        "gloo", or another backend's name: alone, a process needs none.
    init_method : str, optional
        Where processes would meet; "env://" reads RANK and WORLD_SIZE from the environment.
    timeout : datetime.timedelta, optional
        How long to wait for others, of whom there are none.
    world_size : int, optional, default=-1
        Must be 1 in the end.
    rank : int, optional, default=-1
        Must be 0 in the end.
    store : Store, optional
        Where processes would meet, in place of `init_method`.
    group_name, pg_options, device_id
        Not needed by one process.

    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    if store is None:
        method = init_method or "env://"
        if _rendezvous.is_custom(method):
            store, rank, world_size = next(iter(rendezvous(method, rank, world_size)))
        else:
            rank, world_size = _rendezvous.read_place(method, rank, world_size)
    if (rank, world_size) != (0, 1):
        raise NotImplementedError(f"init_process_group: got rank {rank} of {world_size} processes, expected rank 0 of "
                                  "1: Dragon's world has one process (yet)")
    names = [part.partition(":")[2] or part for part in (backend or "gloo").split(",")]
    for name in names:
        if name.lower() not in _BACKENDS:
            raise ValueError(f"Unknown backend name: init_process_group got {name!r}, expected one of {_BACKENDS}")
    _world["default"] = ProcessGroup(backend if backend and ":" not in backend else names[0], "0", "default_pg")
    GroupMember.WORLD = _world["default"]
    _pg_map[_world["default"]] = (str(_world["default"]._backend), store)


def destroy_process_group(group=None):
    """Forget a group; without one, the default group."""
    if not is_initialized():
        raise AssertionError("destroy_process_group: got no default group, expected one from init_process_group")
    if group is None or group is _world["default"]:
        _world["default"] = GroupMember.WORLD = None
        _pg_map.clear()
    else:
        _pg_map.pop(group, None)


def _group(group=None):
    """Return a group, the default one for None, or raise if there is none yet."""
    if _world["default"] is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world["default"] if group is None else group


_get_default_group = _group


def _rank_not_in_group(group):
    """Return whether this process is outside a group."""
    return group == GroupMember.NON_GROUP_MEMBER


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False,
              group_desc=None, device_id=None, sort_ranks=True):
    """Return a new group of this process; a stand-in if it is not among the ranks. One rank has one order."""
    _group()
    if ranks is not None and list(ranks) != [0]:
        if not ranks:
            return GroupMember.NON_GROUP_MEMBER
        raise ValueError("The new group's rank should be within the world_size set by init_process_group: "
                         f"got ranks {list(ranks)}, expected [0]")
    _world["count"] += 1
    made = ProcessGroup(backend or _world["default"]._backend, str(_world["count"]), group_desc)
    _pg_map[made] = (str(made._backend), _pg_map[_world["default"]][1])
    return made


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Return the group of this process, and a list of all of them."""
    if group_size not in (None, 1):
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size (1)")
    made = new_group([0], backend=backend, group_desc=group_desc)
    return made, [made]


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None,
                                 group_desc=None):
    """Return the group of this process, and a list of all of them, of which each has the ranks that are named."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen, made, mine = {}, [], None
    for ranks in ranks_per_subgroup_list:
        if len(ranks) > 1:
            raise ValueError("the new group's world size should be less or equal to the world size set by "
                             f"init_process_group: got ranks {list(ranks)} in a world of 1")
        group = new_group(ranks, backend=backend, group_desc=group_desc)
        made.append(group)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {list(ranks)}")
            seen[rank], mine = list(ranks), group
    return mine, made


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, backend=None):
    """Raise: a group is split by backends that know one device for each process."""
    _group(parent_pg)
    raise RuntimeError("No device associated with the default pg, not safe to split any process groups: got backend "
                       f"{get_backend(parent_pg)!r}; new_group makes groups with any")


def shrink_group(ranks_to_exclude, group=None, shrink_flags=0, pg_options=None):
    """Raise: of one process nobody can be left out."""
    _group(group)
    if not ranks_to_exclude:
        raise ValueError("ranks_to_exclude cannot be empty. To shrink a group, you must specify at least one rank to "
                         "exclude. Example: [failed_rank_id]")
    raise ValueError("Cannot shrink a process group with size 1. Group must have at least 2 ranks to support "
                     "shrinking.")


def get_rank(group=None):
    """Return this process' rank in a group: 0, or -1 outside."""
    return -1 if _rank_not_in_group(_group(group)) else 0


def get_world_size(group=None):
    """Return how many processes are in a group: 1, or -1 seen from outside."""
    return -1 if _rank_not_in_group(_group(group)) else 1


def get_backend(group=None):
    """Return the name of a group's backend."""
    return Backend(_group(group)._backend)


def get_backend_config(group=None):
    """Return which backend serves which device."""
    return f"cpu:{get_backend(group)}"


def get_default_backend_for_device(device):
    """Return the backend that serves a device unless another is named."""
    return "nccl" if str(device).startswith("cuda") else "gloo"


def get_process_group_ranks(group=None):
    """Return the ranks of a group's processes."""
    _group(group)
    return [0]


def get_global_rank(group, group_rank):
    """Return the rank in the world of a rank in a group."""
    return _only(group_rank, "get_global_rank")


def get_group_rank(group, global_rank):
    """Return the rank in a group of a rank in the world."""
    return _only(global_rank, "get_group_rank")


def get_pg_count():
    """Return how many groups there are."""
    return len(_pg_map)


def get_node_local_rank(fallback_rank=None):
    """Return this process' rank on its machine, as the environment tells."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work, assuming you are not running in a multi-device context.")
    return int(fallback_rank)


def _only(rank, who):
    """Return a rank if it is the only one there is."""
    if rank not in (None, 0):
        raise ValueError(f"{who}: got rank {rank}, expected 0: the world has one process")
    return 0


def _done(async_op, result=None):
    return Work(result) if async_op else None


def _same(who, tensors):
    """Raise unless there is one tensor for each of the processes."""
    if len(tensors) != 1:
        raise ValueError(f"{who}: got {len(tensors)} tensors, expected 1, one for each process")
    return tensors[0]


def _require_tensor(tensor):
    """Raise TypeError for what is no tensor."""
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `tensor` of type torch.Tensor but got "
                        f"{type(tensor)} instead.")


def _copy(target, source):
    # Collectives are not on the tape.
    target.detach().copy_(source.detach())


# Tensors stay as they are.

def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce a tensor over all processes, in place."""
    _require_tensor(tensor)
    _group(group)
    return _done(async_op, [tensor])


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce tensors over all processes, in place."""
    _group(group)
    return _done(async_op, tensors)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Reduce a tensor over all processes, for one of them."""
    _require_tensor(tensor)
    _group(group)
    _only(dst, "reduce")
    return _done(async_op, [tensor])


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Give all processes the tensor of one."""
    _require_tensor(tensor)
    _group(group)
    _only(src, "broadcast")
    return _done(async_op, [tensor])


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Wait for all processes."""
    _group(group)
    return _done(async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """Wait for all processes."""
    _group(group)


# Tensors are copied from here to here.

def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fill a list with the tensors of all processes."""
    _group(group)
    _copy(_same("all_gather", tensor_list), tensor)
    return _done(async_op, tensor_list)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """Fill a list for each tensor with that of all processes."""
    _group(group)
    if len(output_tensor_lists) != 1 or len(output_tensor_lists[0]) != len(input_tensor_list):
        raise RuntimeError(f"all_gather_coalesced: invalid output size: got {len(output_tensor_lists)} lists for "
                           f"{len(input_tensor_list)} tensors, expected one list, of a tensor for each")
    for index, (output, tensor) in enumerate(zip(output_tensor_lists[0], input_tensor_list)):
        if output.shape != tensor.shape:
            raise RuntimeError(f"all_gather_coalesced: invalid size of output tensor at index {index}: got "
                               f"{tuple(output.shape)}, expected {tuple(tensor.shape)}")
        _copy(output, tensor)
    return _done(async_op, output_tensor_lists)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Fill a tensor with those of all processes, one after another."""
    _group(group)
    _copy(output_tensor, input_tensor.reshape(output_tensor.shape))
    return _done(async_op, [output_tensor])


_all_gather_base = all_gather_single = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Fill a list of one process with the tensors of all."""
    _group(group)
    _only(dst, "gather")
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _copy(_same("gather", gather_list), tensor)
    return _done(async_op, gather_list)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Give each process one tensor of a list."""
    _group(group)
    _only(src, "scatter")
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _copy(tensor, _same("scatter", scatter_list))
    return _done(async_op, [tensor])


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce each tensor of a list, and give each process one."""
    _group(group)
    _copy(output, _same("reduce_scatter", input_list))
    return _done(async_op, [output])


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduce a tensor, and give each process a part."""
    _group(group)
    _copy(output, input.reshape(output.shape))
    return _done(async_op, [output])


_reduce_scatter_base = reduce_scatter_single = reduce_scatter_tensor


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Send one tensor of a list to each process."""
    _group(group)
    _copy(_same("all_to_all", output_tensor_list), _same("all_to_all", input_tensor_list))
    return _done(async_op, output_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Send one part of a tensor to each process."""
    _group(group)
    _copy(output, input)
    return _done(async_op, [output])


def _nobody(who):
    raise ValueError(f"Invalid peer for {who}: the world has one process, and a process does not send to itself")


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Raise: there is nobody to send to."""
    _group(group)
    _nobody("send")


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Raise: there is nobody to receive from."""
    _group(group)
    _nobody("recv")


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Raise: there is nobody to send to."""
    send(tensor, dst, group, tag)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Raise: there is nobody to receive from."""
    recv(tensor, src, group, tag)


def batch_isend_irecv(p2p_op_list):
    """Raise: there is nobody to send to."""
    _group()
    _nobody("batch_isend_irecv")


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None,
                     use_batch=False):
    """Raise: there is nobody to send to."""
    send(None, dst, group)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None,
                     use_batch=False):
    """Raise: there is nobody to receive from."""
    recv(None, src, group)


# Objects.

def all_gather_object(object_list, obj, group=None):
    """Fill a list with the objects of all processes."""
    _group(group)
    object_list[0] = copy.deepcopy(obj)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Fill a list of one process with the objects of all."""
    _group(group)
    _only(dst, "gather_object")
    object_gather_list[0] = copy.deepcopy(obj)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Give all processes the objects of one."""
    _group(group)
    _only(src, "broadcast_object_list")


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None,
                        group_src=None):
    """Give each process one object of a list."""
    _group(group)
    _only(src, "scatter_object_list")
    scatter_object_output_list[0] = copy.deepcopy(scatter_object_input_list[0])


def supports_complex(reduceOp):
    """Return whether a way to reduce takes complex numbers."""
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM, ReduceOp.PRODUCT)


def _get_pg_default_device(group=None):
    from dragon.vm.torch.core.device import device
    return device("cpu")


fill(globals(), "distributed", ["GradBucket*", "Logger*", "ProcessGroupGloo*", "Reducer*"])
group = _groups.group  # last: functions above have arguments of this name
