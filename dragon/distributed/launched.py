"""Which process of how many this is, as whoever started it tells in the environment."""
import os
import re
from collections import namedtuple

from dragon.distributed.errors import DistributedError

# Who started this process ("torchrun", "mpirun", "srun"), its rank, and how many there are.
Place = namedtuple("Place", "by rank size")
# The words of each launcher for the rank and the number of processes.
WORDS = (
    ("torchrun", "RANK", "WORLD_SIZE"),
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("mpirun", "PMI_RANK", "PMI_SIZE"),  # MPICH and Intel's
    # The rank is set in a batch script as well, which is no process of a step: a step has a number.
    ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
FIRST_PORT, PORTS = 20000, 20000  # of which a job of Slurm's takes one, by its number


def find_place(environment=os.environ, words=WORDS):
    """Return the place that the environment tells, or None where it tells nothing."""
    for by, rank, size in words:
        if by == "srun" and "SLURM_STEP_ID" not in environment:
            continue
        if environment.get(size) not in (None, ""):
            if not environment.get(rank) and environment[size] != "1":
                raise DistributedError(f"join_world: got {size}={environment[size]} and nothing of {rank}, expected "
                                       f"both in the environment, as `{by}` sets them")
            return Place(by, int(environment.get(rank) or 0), int(environment[size]))
    return None


def of_mpi(environment=os.environ):
    """Return the place that MPI has given to this process, or None where it did not start it."""
    return find_place(environment, [words for words in WORDS if words[0] == "mpirun"])


def find_meeting(place, environment=os.environ):
    """Return the host and the port where processes meet that were started without MPI."""
    host, port = environment.get("MASTER_ADDR"), environment.get("MASTER_PORT")
    if place.by == "srun":
        host = host or first_host(environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST", ""))
        port = port or str(FIRST_PORT + int(environment.get("SLURM_JOB_ID", 0)) % PORTS)
    missing = [name for name, value in (("MASTER_ADDR", host), ("MASTER_PORT", port)) if not value]
    if missing:
        raise DistributedError(f"join_world: got {place.size} processes and nothing of {', '.join(missing)}, expected "
                               "both in the environment, as `torchrun` sets them")
    return host, int(port)


def first_host(nodes):
    """Return the first machine of a list as Slurm writes it, such as "node[03-07,9],login"."""
    found = re.match(r"([^,\[]*)(?:\[(\w+))?[^\],]*(?:,[^\]]*)?\]?([^,]*)", nodes)
    prefix, number, suffix = found.groups()
    return prefix + (number or "") + (suffix if number else "")
