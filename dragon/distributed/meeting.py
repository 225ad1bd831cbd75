"""The group of all processes, as the environment tells them of each other."""
from dragon.distributed import launched
from dragon.distributed.carrying import find_carry
from dragon.distributed.errors import DistributedError
from dragon.distributed.group import ProcessGroup
from dragon.distributed.stores.memory import MemoryStore
from dragon.distributed.stores.tcp import TCPStore

_held = {}


def join_world(timeout=1800.0, carry=None):
    """Return the group of all processes, which the environment tells of each other.

    Parameters
    ----------
    timeout : float, optional, default=1800
        Seconds to wait for the others, here and in each call.
    carry : Callable[[List[int], float], object], optional
        What carries their bytes, as for `ProcessGroup`; MPI by default where they are on several machines.

    Returns
    -------
    ProcessGroup
        The group; it is the one that is meant where none is named. A process that was told nothing is alone. Those of
        `torchrun`, of `mpirun` (Open MPI's and MPICH's) and of Slurm's `srun` are told.

    """
    if "group" in _held:
        raise DistributedError("join_world: got a second call, expected one; `world()` has the group")
    place = launched.find_place()
    if place is not None and place.by == "mpirun" and place.size > 1:
        _held["group"] = _join_by_mpi(timeout)
    elif place is None or place.size == 1:
        _held["group"] = ProcessGroup(MemoryStore(), 0, 1, timeout)
    else:
        host, port = launched.find_meeting(place)
        store = TCPStore(host, port, place.rank == 0, timeout)
        carry = carry or find_carry(store, place.rank, place.size, host)
        _held["group"] = ProcessGroup(store, place.rank, place.size, timeout, carry=carry)
    return _held["group"]


def _join_by_mpi(timeout):
    """Return the group of all processes that MPI has started: over memory where they share a machine."""
    from dragon.distributed.mpi.carrier import Carrier
    from dragon.distributed.mpi.meeting import meet, share_port
    rank, size, is_one_machine = meet()
    host, port = share_port()
    return ProcessGroup(TCPStore(host, port, rank == 0, timeout), rank, size, timeout,
                        carry=None if is_one_machine else Carrier)


def world():
    """Return the group of all processes; None before `join_world`."""
    return _held.get("group")


def leave_world():
    """Leave the group of all processes."""
    group = _held.pop("group", None)
    if group is not None:
        group.close()
        if hasattr(group.store, "close"):
            group.store.close()
