"""`torch.fx.proxy`, for those who import from there."""
from dragon.vm.torch.fx import Proxy  # noqa: F401
