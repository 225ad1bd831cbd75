"""`torch.sparse`: a name that scripts import; Dragon has no sparse tensors, and every name of it says so."""
from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.sparse", globals())
