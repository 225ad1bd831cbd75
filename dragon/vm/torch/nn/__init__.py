"""`torch.nn`: layers and what they compute."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.nn import functional

__getattr__ = module_getattr("torch.nn", globals())
