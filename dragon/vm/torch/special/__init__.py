"""`torch.special`: special functions."""
from dragon.vm.torch.core.functions.special import NAMESPACE as _namespace

globals().update(_namespace)
