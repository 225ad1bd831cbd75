"""Whether mixed precision on CUDA devices can be."""
from dragon.vm.torch.cuda import is_available


def amp_definitely_not_available():
    """Return whether there is no device that it could run on."""
    return not is_available()
