"""`torch.fx.proxy`, for those who import from there."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.fx import Proxy  # noqa: F401

__getattr__ = module_getattr("torch.fx.proxy", globals())
