"""NVIDIA's collectives, which are not there without CUDA."""
from dragon.vm.torch.core.accelerators import fill


def is_available(tensors):
    """Return False: there is no NCCL."""
    return False


def _refuse(name):
    return RuntimeError(f"torch.cuda.nccl.{name} needs a build with NCCL, and Dragon has none")


fill(globals(), "torch.cuda.nccl", _refuse, "version all_reduce all_gather broadcast reduce reduce_scatter init_rank")
