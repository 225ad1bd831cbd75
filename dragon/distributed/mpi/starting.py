"""MPI among processes that no `mpirun` has started: whoever has told them their ranks, they begin it together."""
import functools
import os
import secrets
import socket
import sys

from dragon.distributed.errors import DistributedError
from dragon.distributed.machine import name
from dragon.distributed.mpi import introducing
from dragon.distributed.mpi.library import WAYS, find, load

MEET_SECONDS = 300.0  # to wait for each other where the store does not know how long
_begun = {}


def addresses(first=None):
    """Return what others may reach this machine by, the likeliest first.

    Parameters
    ----------
    first : str, optional
        An address by which they have reached it before.

    """
    found = [] if first is None else [first]
    try:  # the address of the way out; nothing is sent
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            found.append(probe.getsockname()[0])
    except OSError:
        pass
    try:
        found += [place[4][0] for place in socket.getaddrinfo(name(), None, socket.AF_INET)]
    except OSError:
        pass
    return list(dict.fromkeys([*found, "127.0.0.1"]))


def begin(store, rank, size, host=None):
    """Begin MPI, and return what makes a carrier of a group; called by all processes of a world.

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
    Callable[[List[int], float], Carrier]
        Given the members' numbers and a timeout, returns what carries their bytes.

    """
    from dragon.distributed.mpi.carrier import Carrier  # which needs NumPy
    if "place" in _begun:
        if _begun["place"] != (rank, size):
            before = "{} of {}".format(*_begun["place"])
            raise DistributedError(f"MPI: got rank {rank} of {size} for a process that began as {before}, expected the "
                                   "same: MPI begins once in a process")
        return functools.partial(Carrier, watch=_begun["watch"])
    if "mpi4py.MPI" in sys.modules and sys.modules["mpi4py.MPI"].Is_initialized():
        raise DistributedError("MPI: got a program that has imported mpi4py.MPI, which began it with this process "
                               "alone, expected `init_process_group` (or `join_world`) to come first, or `mpirun`")
    if rank == 0:
        token = secrets.token_hex(8)
        _begun["introducer"], port = introducing.start(size, token)
        store.set("introducer", f"{token} {port} {' '.join(addresses(host))}")
    token, port, *places = store.get("introducer").decode().split()
    watch = _reach(["127.0.0.1"] if rank == 0 else places, int(port), token, rank)
    try:
        mpi = find()
        _meet(watch, size, getattr(store, "timeout", MEET_SECONDS))
    except (ImportError, DistributedError) as error:
        watch.close()
        raise DistributedError(f"process group: got {size} processes on several machines, expected what carries their "
                               f"bytes there. {error}") from None
    told = {"PMI_PORT": f"{watch.host}:{port}", "PMI_ID": str(rank)}
    before = {word: os.environ.get(word) for word in told}
    os.environ.update(told)
    try:
        load()
    finally:  # children of this process are none of MPI's
        for word, value in before.items():
            os.environ.pop(word) if value is None else os.environ.update({word: value})
    if mpi.COMM_WORLD.size != size:
        version = mpi.Get_library_version().split("\n")[0].strip("\0 ")
        raise DistributedError(f"MPI: got the library {version!r}, with which {size} processes on several machines are "
                               f"each alone, expected MPICH, or to be started by `mpirun`: {WAYS}")
    _begun.update(place=(rank, size), watch=watch)
    return functools.partial(Carrier, watch=watch)


def _meet(watch, size, seconds):
    """Return once all processes have come so far, and need the store no more.

    Python waits while MPI begins: what a thread of rank 0 keeps for the others could not be asked for from then on.
    """
    if not watch.meet(seconds):
        gone = watch.gone()
        problem = f"rank {gone[0]} has ended, or cannot begin it" if gone else f"not all have come in {seconds:g} s"
        raise DistributedError(f"MPI: {problem}, expected all of {size} processes to begin it together")


def _reach(places, port, token, rank):
    """Return a connection to the introducer by the first of several addresses that leads there."""
    problems = []
    for place in places:
        try:
            return introducing.Watch(place, port, token, rank=rank)
        except OSError as error:
            problems.append(f"{place}: {error.strerror or error}")
    raise DistributedError(f"MPI: got no connection to port {port} of rank 0 ({'; '.join(problems)}), expected one of "
                           "its addresses to be reached: does a firewall stand between?")
