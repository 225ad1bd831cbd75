"""Intel MKL, which Dragon does not use."""
from dragon.vm.torch.core.missing import module_getattr


def is_available():
    """Return False."""
    return False


__getattr__ = module_getattr("torch.backends.mkl", globals())
