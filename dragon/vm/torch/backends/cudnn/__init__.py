"""Switches of cuDNN, which convolutions of a CUDA device go to: `allow_tf32` is heeded, the others are kept."""
import sys
import types

from dragon.core import config
from dragon.vm.torch.core.switches import make_flags

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
benchmark_limit, fp32_precision = 10, "none"


def _tell():
    config.set_convolutions_allow_tf32(bool(allow_tf32))


class _Switches(types.ModuleType):
    """The module, which tells the engine of what is set here."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "allow_tf32":
            _tell()


sys.modules[__name__].__class__ = _Switches
set_flags, flags = make_flags(globals(), changed=_tell, enabled=False, benchmark=False, benchmark_limit=10,
                              deterministic=False, allow_tf32=True, fp32_precision="none")


def is_available():
    """Return False: there is no cuDNN."""
    return False


def version():
    """Return None: there is no cuDNN."""
    return None


def is_acceptable(tensor):
    """Return False: no tensor goes to cuDNN."""
    return False
