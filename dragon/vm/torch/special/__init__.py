"""`torch.special`: special functions."""
from dragon.vm.torch.core.functions.special import NAMESPACE as _namespace
from dragon.vm.torch.core.missing import module_getattr

globals().update(_namespace)
__getattr__ = module_getattr("torch.special", globals())
