"""Tensors to and from other libraries without a copy: `torch.utils.dlpack`."""
import enum

from dragon import _C
from dragon.vm.torch.core.functions.creation import from_dlpack  # noqa: F401


def to_dlpack(tensor):
    """Return a capsule over the tensor's memory, for one use."""
    return _C.to_dlpack(tensor)


class DLDeviceType(enum.IntEnum):
    """Kinds of devices, by the numbers that libraries tell each other."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
