"""Which backends of PyTorch's there are here."""
from dragon.distributed.mpi import library as _mpi
from dragon.vm.torch.distributed import nccl as _nccl


def is_nccl_available():
    """Return whether there are CUDA devices, and NCCL's library."""
    return _nccl.is_available()


def is_gloo_available():
    """Return True: a world of one needs nothing else."""
    return True


def is_mpi_available():
    """Return whether mpi4py is installed, which carries what processes on several machines tell each other."""
    return _mpi.is_there()


def is_ucc_available():
    """Return False: there is no UCC."""
    return False


def is_xccl_available():
    """Return False: there is no XCCL."""
    return False
