"""The order in which `einsum` multiplies: from left to right."""
from dragon.vm.torch.core.switches import make_flags

enabled, strategy = False, None
set_flags, flags = make_flags(globals(), enabled=None, strategy=None)


def is_available():
    """Return False: `opt_einsum` is not asked."""
    return False


def get_opt_einsum():
    """Return None: `opt_einsum` is not asked."""
    return None
