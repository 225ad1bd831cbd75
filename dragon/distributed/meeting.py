"""The group of all processes, as the environment tells them of each other."""
import os

from dragon.distributed.errors import DistributedError
from dragon.distributed.group import ProcessGroup
from dragon.distributed.stores.memory import MemoryStore
from dragon.distributed.stores.tcp import TCPStore

WORDS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_held = {}


def join_world(timeout=1800.0):
    """Return the group of all processes, which the environment tells of each other.

    Parameters
    ----------
    timeout : float, optional, default=1800
        Seconds to wait for the others, here and in each call.

    Returns
    -------
    ProcessGroup
        The group; it is the one that is meant where none is named. A process that was told nothing is alone.

    """
    if "group" in _held:
        raise DistributedError("join_world: got a second call, expected one; `world()` has the group")
    told = {word: os.environ.get(word) for word in WORDS}
    if told["WORLD_SIZE"] in (None, "1"):
        store, rank, size = MemoryStore(), 0, 1
    else:
        missing = [word for word in WORDS if not told[word]]
        if missing:
            raise DistributedError(f"join_world: got WORLD_SIZE={told['WORLD_SIZE']} and nothing of "
                                   f"{', '.join(missing)}, expected all four in the environment, as `torchrun` sets "
                                   "them")
        rank, size = int(told["RANK"]), int(told["WORLD_SIZE"])
        store = TCPStore(told["MASTER_ADDR"], int(told["MASTER_PORT"]), rank == 0, timeout)
    _held["group"] = ProcessGroup(store, rank, size, timeout)
    return _held["group"]


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
