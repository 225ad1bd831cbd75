"""What carries the bytes of a group: shared memory on one machine, MPI between several."""
from dragon.distributed.machine import machine


def find_carry(store, rank, size, host=None):
    """Return what `ProcessGroup` takes as `carry`; called by all processes of a world.

    Parameters
    ----------
    store : Store
        Where they meet, under keys that nobody else uses.
    rank : int
        This process's number.
    size : int
        How many there are.
    host : str, optional
        The machine of the first process, if it is known.

    Returns
    -------
    Callable[[List[int], float], object], optional
        None where all are on one machine; else what begins MPI among them.

    """
    if size == 1 or are_together(store, rank, size):
        return None
    from dragon.distributed.mpi.starting import begin
    return begin(store, rank, size, host)


def are_together(store, rank, size):
    """Return whether all processes are on one machine: each tells whether it is on the first one's."""
    if rank == 0:
        store.set("machine", machine())
    else:
        store.set(f"machine/{rank}", "1" if store.get("machine").decode() == machine() else "0")
    if rank == 0:
        together = all(store.get(f"machine/{other}") == b"1" for other in range(1, size))
        store.set("together", "1" if together else "0")
        return together
    return store.get("together") == b"1"
