"""What each worker does to be one of a group, and what it finds in its environment."""
import functools
import os
import socket

from dragon import distributed
from dragon.distributed.machine import machine
from dragon.ray.carrier import Carrier
from dragon.ray.library import ray
from dragon.vm.alias import VARIABLE, VERSIONS


def runtime_env(*guests):
    """Return what Ray is to set up for workers in which `import torch` finds Dragon.

    Parameters
    ----------
    guests : str
        Names of packages to stand for; all that Dragon has, where somebody wants them, unless some are named.

    Returns
    -------
    Dict[str, Dict[str, str]]
        For `ray.init(runtime_env=...)` or `RunConfig(worker_runtime_env=...)`. Dragon has to be installed there.

    """
    for guest in guests:
        if guest not in VERSIONS:
            raise ValueError(f"runtime_env: got {guest!r}, expected some of {', '.join(VERSIONS)}")
    return {"env_vars": {VARIABLE: ",".join(guests or (guest + "?" for guest in VERSIONS))}}


def find_place():
    """Return this worker's machine, its address in the cluster, and a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("", 0))
        return machine(), ray.util.get_node_ip_address(), found.getsockname()[1]


def join(rank, size, host, port, timeout, post):
    """Become one of the group of all workers; `post` carries bytes where they are on several machines."""
    carry = None if post is None else functools.partial(Carrier, post, rank)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR=host, MASTER_PORT=str(port))
    distributed.join_world(timeout, carry)


def leave():
    """Leave it."""
    distributed.leave_world()
