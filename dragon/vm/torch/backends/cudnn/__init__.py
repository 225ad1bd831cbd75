"""Switches of cuDNN, which is not there without CUDA: they are kept, and nothing reads them."""
from dragon.vm.torch.core.switches import make_flags

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
benchmark_limit, fp32_precision = 10, "none"
set_flags, flags = make_flags(globals(), enabled=False, benchmark=False, benchmark_limit=10, deterministic=False,
                              allow_tf32=True, fp32_precision="none")


def is_available():
    """Return False: there is no cuDNN."""
    return False


def version():
    """Return None: there is no cuDNN."""
    return None


def is_acceptable(tensor):
    """Return False: no tensor goes to cuDNN."""
    return False
