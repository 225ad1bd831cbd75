"""Switches of cuDNN, which convolutions and recurrent networks of a CUDA device go to.

`deterministic` is kept: no other way is ever taken.
"""
import sys
import types

from dragon.core import accelerator, config
from dragon.vm.torch.core.nvidia.presence import is_available as _is_available
from dragon.vm.torch.core.switches import make_flags

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
benchmark_limit, fp32_precision = 10, "none"


def _tell():
    config.set_convolutions_allow_tf32(bool(allow_tf32))
    config.set_allows_vendor_convolution(bool(enabled))
    config.set_allows_vendor_recurrent(bool(enabled))
    config.set_measures_vendors(bool(benchmark))


class _Switches(types.ModuleType):
    """The module, which tells the engine of what is set here."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in ("allow_tf32", "enabled", "benchmark"):
            _tell()


sys.modules[__name__].__class__ = _Switches
set_flags, flags = make_flags(globals(), changed=_tell, enabled=False, benchmark=False, benchmark_limit=10,
                              deterministic=False, allow_tf32=True, fp32_precision="none")


def is_available():
    """Return whether there is a CUDA device, and cuDNN for its convolutions."""
    return version() is not None


def version():
    """Return the version of cuDNN as a number, 91900 for 9.19.0; None without it, or without a device."""
    return accelerator.library_version("cudnn") or None if _is_available() else None


def is_acceptable(tensor):
    """Return whether a tensor is one that convolutions may hand to cuDNN.

    Parameters
    ----------
    tensor : Tensor
        Any tensor.

    Returns
    -------
    bool
        Whether it is of floats, on a CUDA device where cuDNN is, and cuDNN is enabled.

    """
    floats = ("float16", "bfloat16", "float32", "float64")
    return bool(enabled) and tensor.is_cuda and str(tensor.dtype).split(".")[-1] in floats and is_available()
