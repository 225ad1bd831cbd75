"""`torch.signal`: windows for signals."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.signal import windows

__getattr__ = module_getattr("torch.signal", globals())
