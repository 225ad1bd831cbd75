"""NNPACK, which Dragon does not use."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.core.switches import make_flags

enabled = False
set_flags, flags = make_flags(globals(), enabled=False)


def is_available():
    """Return False."""
    return False


__getattr__ = module_getattr("torch.backends.nnpack", globals())
