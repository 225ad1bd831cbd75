"""mpi4py, where it is asked for, and what it speaks to."""
import importlib.util
import os
import sys

from dragon.core.distribution import install_words
from dragon.distributed import launched
from dragon.distributed.errors import DistributedError

SIZES_HERE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")  # how many processes are on this machine
WAYS = (f"`{install_words('mpi')}` brings mpi4py and MPICH; with the machine's own MPI, `pip install mpi4py` is "
        "enough")


def is_there():
    """Return whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_started(environment=os.environ):
    """Return whether `mpirun` has started this process, and there is what speaks to MPI."""
    return launched.of_mpi(environment) is not None and is_there()


def spans_machines(environment=os.environ):
    """Return whether processes may be on several machines, as `mpirun` tells it."""
    place = launched.of_mpi(environment)
    here = [environment[name] for name in SIZES_HERE if name in environment]
    return place is not None and (not here or int(here[0]) < place.size)


def find():
    """Return the module `mpi4py.MPI` without beginning MPI, unless somebody has; it ends with the process."""
    try:
        import mpi4py
        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
        from mpi4py import MPI
    except ModuleNotFoundError:
        raise ImportError(f"MPI: got no package mpi4py, expected it and a library of MPI: {WAYS}",
                          name="mpi4py") from None
    except (ImportError, RuntimeError) as error:
        first = str(error).strip().split("\n")[0]
        raise DistributedError(f"MPI: got no library of MPI ({first}), expected one: {WAYS}") from None
    return MPI


def load():
    """Return the module `mpi4py.MPI` after MPI has begun."""
    MPI = find()
    if not MPI.Is_initialized():
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise DistributedError(f"MPI: got a library that allows threads of level {MPI.Query_thread()}, expected one "
                               "that lets several threads call it (MPI_THREAD_MULTIPLE)")
    return MPI
