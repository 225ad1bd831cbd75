"""How processes that MPI has started find each other without it: on which machine each is, and a port of rank 0."""
import functools
import socket

from dragon.distributed.machine import machine, name
from dragon.distributed.mpi.library import load


@functools.cache
def meet():
    """Return (rank, number of processes, whether all are on one machine). Called by all; asked once."""
    world = load().COMM_WORLD
    machines = world.allgather(machine())
    return world.rank, world.size, len(set(machines)) == 1


def share_port():
    """Return a host and a port of it at which rank 0 may listen. Called by all."""
    world, place, (rank, _, is_one) = load().COMM_WORLD, None, meet()
    if rank == 0:
        with socket.socket() as found:
            found.bind(("", 0))
            place = "127.0.0.1" if is_one else name(), found.getsockname()[1]
    return world.bcast(place, 0)
