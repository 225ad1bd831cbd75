"""Collectives among processes, for a world of one: scripts written for many run alone."""
from dragon.vm.guest import lookup
from dragon.vm.torch.distributed import distributed_c10d as _c10d

globals().update((name, value) for name, value in vars(_c10d).items() if not name.startswith("_"))
from dragon.vm.torch.distributed.distributed_c10d import _get_default_group, _rank_not_in_group  # noqa: E402


def is_available():
    """Return True: a world of one is."""
    return True


def is_nccl_available():
    """Return False: there is no NCCL."""
    return False


def is_gloo_available():
    """Return True: a world of one needs nothing else."""
    return True


def is_mpi_available():
    """Return False: there is no MPI."""
    return False


def is_ucc_available():
    """Return False: there is no UCC."""
    return False


def is_xccl_available():
    """Return False: there is no XCCL."""
    return False


_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name in ("DeviceMesh", "init_device_mesh"):
        from dragon.vm.torch.distributed import device_mesh
        return getattr(device_mesh, name)
    return _find(name)
