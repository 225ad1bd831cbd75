"""`torch.fx.node`, for those who import from there."""
from dragon.vm.torch.fx import Node  # noqa: F401
