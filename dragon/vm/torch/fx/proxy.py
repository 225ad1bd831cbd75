"""`torch.fx.proxy`, for those who import from there."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.fx import Proxy  # noqa: F401

fill(globals(), "fx.proxy")
