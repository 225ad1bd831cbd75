"""The default device as a mode."""
from dragon.vm.torch.core.device import device as DeviceContext
from dragon.vm.torch.core.missing import module_getattr


def set_device(device):
    """Return a decorator that runs functions with a default device."""
    return DeviceContext(device)


__getattr__ = module_getattr("torch.utils._device", globals())
