"""The default device as a mode."""
from dragon.vm.torch.core.device import device as DeviceContext


def set_device(device):
    """Return a decorator that runs functions with a default device."""
    return DeviceContext(device)
