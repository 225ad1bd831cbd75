"""Groups of processes: how they begin, which there are, and who is in them."""
import os
from datetime import timedelta

from dragon.distributed import errors
from dragon.distributed.carrying import find_carry
from dragon.distributed.group import ProcessGroup as Core
from dragon.distributed.mpi import library as _mpi
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.distributed import nccl as _nccl
from dragon.vm.torch.distributed import rendezvous as _rendezvous
from dragon.vm.torch.distributed.groups import (Backend, DistBackendError, GroupMember, ProcessGroup, _pg_map, _world)
from dragon.vm.torch.distributed.stores import HashStore, PrefixStore

default_pg_timeout = timedelta(minutes=30)
_BACKENDS = ("gloo", "nccl", "mpi", "ucc", "xccl", "fake")


class _Meeting:
    """A store of PyTorch's, as Dragon's groups ask it."""

    def __init__(self, store):
        self.set, self.get, self._wait = store.set, store.get, store.wait
        self.timeout = store.timeout.total_seconds()

    def wait(self, keys, seconds):
        self._wait(keys, timedelta(seconds=min(seconds, 1e8)))


def is_initialized():
    """Return whether there is a default group."""
    return _world["default"] is not None


def is_torchelastic_launched():
    """Return whether the elastic launcher started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend):
    """Return whether a backend can be used."""
    there = {"gloo": True, "mpi": _mpi.is_there, "nccl": _nccl.is_available}.get(backend.lower(), False)
    return there() if callable(there) else there


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None,
                       group_name="", pg_options=None, device_id=None, _ranks=None):
    """Make the default group, of all processes.

    Parameters
    ----------
    backend : str, optional
        "gloo": processes of one machine share memory, and tensors of CUDA devices are copied to it; "nccl": NCCL
        carries tensors of CUDA devices, and those of the host are refused; "cpu:gloo,cuda:nccl", and None: both. "mpi":
        MPI carries what processes tell each other that `mpirun` has started, on one machine or many; it gives ranks and
        their number as well. Where there is no CUDA device processes of one machine share memory, whatever the name;
        those that `mpirun` has started on several have MPI.
    init_method : str, optional
        Where processes meet; "env://" reads MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE from the environment.
    timeout : datetime.timedelta, optional
        How long to wait for others, here and in each collective; half an hour by default.
    world_size : int, optional, default=-1
        How many processes there are.
    rank : int, optional, default=-1
        Which one this is.
    store : Store, optional
        Where processes meet, in place of `init_method`.
    pg_options : ProcessGroupNCCL.Options, optional
        Choices for NCCL.
    device_id : Union[int, device], optional
        The device of this process: it becomes the group's, and NCCL joins the processes now rather than at their first
        collective.
    group_name
        Not needed.

    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    _check_timeout(timeout)
    timeout = timeout or default_pg_timeout
    names = [part.partition(":")[2] or part for part in (backend or "gloo").split(",")]
    _nccl.require([name.lower() for name in names])
    device_id = _own_device(device_id)
    if names == ["mpi"] and store is None and _mpi.is_started():
        store, rank, world_size = _rendezvous.meet_by_mpi(timeout)
    elif store is None:
        method = init_method or "env://"
        if not _rendezvous.is_custom(method) and _rendezvous.read_place(method, rank, world_size) == (0, 1):
            store, rank, world_size = HashStore(), 0, 1  # alone, there is nobody to meet
        else:
            store, rank, world_size = next(iter(_rendezvous.rendezvous(method, rank, world_size, timeout=timeout)))
        store.set_timeout(timeout)
    elif rank < 0 or world_size < 1:
        raise ValueError(f"init_process_group: got a store, rank {rank} and world_size {world_size}, expected the rank "
                         "and the number of processes beside it")
    _check_backends("init_process_group", names)
    by_mpi = world_size > 1 and _mpi.is_started() and ("mpi" in names or _mpi.spans_machines())
    carry = _carrier() if by_mpi else _find_carry(store, rank, world_size)
    _world["default"] = _make(backend if backend and ":" not in backend else names[0], "0", "default_pg", store,
                              PrefixStore("default_pg", store), rank, list(range(world_size)), timeout,
                              carry, _nccl.backend_map(backend), pg_options, device_id)
    GroupMember.WORLD = _world["default"]


def _check_backends(who, names):
    for name in names:
        if not isinstance(name, str) or name.lower() not in _BACKENDS:
            raise ValueError(f"Unknown backend name: {who} got {name!r}, expected one of {_BACKENDS}")


def _check_timeout(timeout):
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def _find_carry(store, rank, world_size):
    """Return what carries bytes between the machines on which processes are; None for shared memory."""
    try:
        return find_carry(_Meeting(PrefixStore("machines", store)), rank, world_size, getattr(store, "host", None))
    except errors.DistributedError as error:
        raise DistBackendError(str(error)) from None


def _carrier():
    from dragon.distributed.mpi.carrier import Carrier  # which needs NumPy
    return Carrier


def _own_device(device_id):
    """Return the device of this process as a device with an index; None for None."""
    if device_id is None:
        return None
    device = as_device(device_id)
    if device.type == "cpu" or device.index is None:
        raise ValueError("init_process_group device_id parameter must be a device with an index: got "
                         f"{device_id!r}, expected one of an accelerator, as in torch.device('cuda:0')")
    return device


def _make(backend, name, description, store, meeting, rank, ranks, timeout, carry, backends=None, options=None,
          device=None):
    backends = _nccl.backend_map(backend) if backends is None else backends
    try:
        core = Core(_Meeting(meeting), rank, len(ranks), timeout.total_seconds(), ranks, carry=carry)
        _nccl.serve(core, backends, options)
        if device is not None and core.services.get(device.type) == "device":
            core.barrier(str(device))
    except errors.DistributedError as error:
        raise DistBackendError(str(error)) from None
    made = ProcessGroup(core, backend, name, description, meeting, backends, device)
    made._options = options
    _pg_map[made] = (str(made._backend), store)
    return made


def destroy_process_group(group=None):
    """Leave a group; without one, all groups."""
    if not is_initialized():
        raise AssertionError("destroy_process_group: got no default group, expected one from init_process_group")
    if group is None or group is _world["default"]:
        for one in list(_pg_map):
            one._core.close()
        _world["default"] = GroupMember.WORLD = None
        _world["count"] = 0
        _pg_map.clear()
    elif _pg_map.pop(group, None) is not None:
        group._core.close()


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
    """Return a new group of some processes; a stand-in for those outside. All processes of the world call this.

    Parameters
    ----------
    ranks : List[int], optional
        The members' ranks in the world; all by default.
    timeout : datetime.timedelta, optional
        How long to wait for others; as the default group by default.
    backend : str, optional
        As of `init_process_group`.
    use_local_synchronization : bool, optional, default=False
        Whether the members alone call this.
    group_desc : str, optional
        What it is for.
    sort_ranks : bool, optional, default=True
        Whether members are numbered in the order of their ranks, or in that of the list.
    pg_options : ProcessGroupNCCL.Options, optional
        Choices for NCCL.
    device_id : Union[int, device], optional
        As of `init_process_group`.

    """
    world = _group()
    if world._core.process != os.getpid():
        raise ValueError("new_group: got a call in a process that was forked from a member of the group, expected one "
                         "in the member itself")
    _check_timeout(timeout)
    if backend is not None:
        _check_backends("new_group", [part.partition(":")[2] or part for part in str(backend).split(",")])
    size = world.size()
    ranks = list(range(size)) if ranks is None else [int(rank) for rank in ranks]
    if not ranks:
        return GroupMember.NON_GROUP_MEMBER
    if len(ranks) > size:
        raise ValueError("the new group's world size should be less or equal to the world size set by "
                         f"init_process_group: got ranks {ranks} in a world of {size}")
    for rank in ranks:
        if not 0 <= rank < size:
            raise ValueError("The new group's rank should be within the world_size set by init_process_group: "
                             f"got ranks {ranks}, expected 0 to {size - 1}")
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"new_group: got ranks {ranks}, expected each once")
    ranks = sorted(ranks) if sort_ranks else ranks
    if use_local_synchronization:
        # Others may have made other groups meanwhile: the members' own count tells this one.
        key = tuple(ranks)
        _local[key] = _local.get(key, 0) + 1
        name = f"{'_'.join(map(str, ranks))}:{_local[key]}"
    else:
        _world["count"] += 1
        name = str(_world["count"])
    me = world.rank()
    if me not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    store = _pg_map[world][1]
    timeout = timeout or timedelta(seconds=world._core.timeout)
    if backend is not None:
        _nccl.require([part.rpartition(":")[2].lower() for part in backend.split(",")])
    backends = world._backends if backend is None else _nccl.backend_map(backend)
    options = world._options if pg_options is None and backend is None else pg_options
    return _make(backend or world._backend, name, group_desc, store, PrefixStore(f"group {name}", store),
                 ranks.index(me), ranks, timeout, world._core.carry, backends, options, _own_device(device_id))


_local = {}  # {ranks: how many groups they have made by themselves}


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Return the group of this process, and a list of all: processes side by side, so many in each."""
    size = get_world_size(group)
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    ranks = get_process_group_ranks(group)
    return new_subgroups_by_enumeration([ranks[at:at + group_size] for at in range(0, size, group_size)], timeout,
                                        backend, pg_options, group_desc)


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None,
                                 group_desc=None):
    """Return the group of this process, and a list of all of them, of which each has the ranks that are named."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen, made, mine = {}, [], None
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {list(ranks)}")
            seen[rank] = list(ranks)
    for ranks in ranks_per_subgroup_list:
        group = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        made.append(group)
        if get_rank() in ranks:
            mine = group
    return mine, made


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, backend=None):
    """Return this process's group of several that a group is cut into; None outside of all. All members call this.

    Parameters
    ----------
    parent_pg : ProcessGroup, optional
        The group, the default one by default; a device belongs to it (`init_process_group(device_id=...)`).
    split_ranks : List[List[int]]
        The members of each new group, by their ranks in the old one.
    timeout, pg_options, group_desc, backend
        As of `new_group`.

    Returns
    -------
    Optional[ProcessGroup]
        The new group.

    """
    parent = _group(parent_pg)
    if parent.bound_device_id is None:
        raise RuntimeError("No device associated with the default pg, not safe to split any process groups: got the "
                           f"backend {get_backend(parent)!r}; new_group makes groups with any")
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    members = [rank for ranks in split_ranks for rank in ranks]
    if len(set(members)) != len(members) or any(not 0 <= rank < parent.size() for rank in members):
        raise ValueError(f"split_group: got split_ranks={split_ranks}, expected each of the group's {parent.size()} "
                         "ranks at most once")
    mine = next((sorted(ranks) for ranks in split_ranks if parent.rank() in ranks), None)
    if mine is None:
        return None
    every = get_process_group_ranks(parent)
    return new_group([every[rank] for rank in mine], timeout, backend, pg_options, True, group_desc,
                     parent.bound_device_id)


def shrink_group(ranks_to_exclude, group=None, shrink_flags=0, pg_options=None):
    """Raise: this backend's groups stay as they are."""
    size = _group(group).size()
    if not ranks_to_exclude:
        raise ValueError("ranks_to_exclude cannot be empty. To shrink a group, you must specify at least one rank to "
                         "exclude. Example: [failed_rank_id]")
    if size == 1:
        raise ValueError("Cannot shrink a process group with size 1. Group must have at least 2 ranks to support "
                         "shrinking.")
    raise NotImplementedError(f"shrink_group: got a group of backend {get_backend(group)!r}, expected one that "
                              "shrinks; new_group makes one of those that are left")


def get_rank(group=None):
    """Return this process's rank in a group; -1 outside."""
    group = _group(group)
    return -1 if _rank_not_in_group(group) else group.rank()


def get_world_size(group=None):
    """Return how many processes are in a group; -1 seen from outside."""
    group = _group(group)
    return -1 if _rank_not_in_group(group) else group.size()


def get_backend(group=None):
    """Return the name of a group's backend."""
    return Backend(_group(group)._backend)


def get_backend_config(group=None):
    """Return which backend serves which device."""
    return ",".join(f"{kind}:{name}" for kind, name in _group(group)._backends.items())


def get_default_backend_for_device(device):
    """Return the backend that serves a device unless another is named."""
    return "nccl" if str(device).startswith("cuda") else "gloo"


def get_process_group_ranks(group=None):
    """Return the ranks of a group's processes in the world."""
    return list(_group(group)._core.ranks)


def get_global_rank(group, group_rank):
    """Return the rank in the world of a rank in a group."""
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank!r} is not part of group {_name_of(group)}: expected 0 to "
                         f"{len(ranks) - 1}")
    return ranks[group_rank]


def _name_of(group):
    return repr(getattr(group, "group_name", group))


def get_group_rank(group, global_rank):
    """Return the rank in a group of a rank in the world."""
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank!r} is not part of group {_name_of(group)}: expected one of "
                         f"{ranks}")
    return ranks.index(global_rank)


def get_pg_count():
    """Return how many groups there are."""
    return len(_pg_map)


def get_node_local_rank(fallback_rank=None):
    """Return this process's rank on its machine, as the environment tells."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work, assuming you are not running in a multi-device context.")
    return int(fallback_rank)


def _get_pg_default_device(group=None):
    """Return the device that a group's tensors are on where nothing else is said: the host, if it carries those."""
    group = _group(group)
    kinds = list(group._backends)
    return as_device("cpu" if "cpu" in kinds or not kinds else kinds[0])
