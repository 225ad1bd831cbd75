"""OpenMP, which the engine runs its kernels with."""
from dragon.vm.torch.core.missing import module_getattr


def is_available():
    """Return True."""
    return True


__getattr__ = module_getattr("torch.backends.openmp", globals())
