"""What CUDA devices are: names, sizes, abilities, as the engine's backend tells them."""
import functools
import uuid

from dragon.core import accelerator
from dragon.vm.torch.core.nvidia.presence import number


class DeviceProperties:
    """What a CUDA device is: `name`, `total_memory`, `uuid`, and CUDA's numbers by PyTorch's names."""

    def __init__(self, **values):
        self.__dict__.update(values)

    @property
    def gcnArchName(self):  # noqa: N802 (PyTorch's name)
        """The device's name."""
        return self.name

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 2 ** 20}MB, multi_processor_count={self.multi_processor_count}, "
                f"uuid={self.uuid}, L2_cache_size={self.L2_cache_size // 2 ** 20}MB)")


DeviceProperties.__name__ = DeviceProperties.__qualname__ = "_CudaDeviceProperties"
DeviceProperties.__module__ = "torch.cuda"


@functools.cache
def _properties(index):
    facts = accelerator.device_facts(index)
    return DeviceProperties(**{**facts, "uuid": uuid.UUID(bytes=facts["uuid"])})


def properties(device=None):
    """Return what a device is."""
    return _properties(number(device))


def memory(device=None):
    """Return how many bytes of a device are free, and how many it has."""
    return accelerator.device_memory(number(device))


def reaches(device, peer):
    """Return whether a device can read another one's memory."""
    return accelerator.device_reaches(number(device), number(peer))
