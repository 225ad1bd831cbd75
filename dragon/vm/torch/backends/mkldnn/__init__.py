"""oneDNN, which runs the engine's products and convolutions where it is built in."""
from dragon.core import config
from dragon.vm.torch.core.switches import make_flags

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
# Kept, and nothing reads them: the engine picks its kernels by shape, and its results repeat.
enabled, deterministic, allow_tf32, fp32_precision = True, False, True, "none"
set_flags, flags = make_flags(globals(), enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none")


def is_available():
    """Return whether the engine was built with it: Dragon's own kernels do its work elsewhere."""
    return config.has_onednn()


def is_acl_available():
    """Return False: there is no Arm Compute Library."""
    return False
