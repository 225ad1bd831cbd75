"""`torch.nested`: a name that scripts import; Dragon has no nested tensors, and every name of it says so."""
from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.nested", globals())
