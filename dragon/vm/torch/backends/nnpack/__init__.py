"""NNPACK, which Dragon does not use."""
from dragon.vm.torch.core.switches import make_flags

enabled = False
set_flags, flags = make_flags(globals(), enabled=False)


def is_available():
    """Return False."""
    return False
