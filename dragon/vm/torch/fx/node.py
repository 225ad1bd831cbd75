"""`torch.fx.node`, for those who import from there."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.fx import Node  # noqa: F401

__getattr__ = module_getattr("torch.fx.node", globals())
