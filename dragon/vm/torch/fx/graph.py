"""`torch.fx.graph`, for those who import from there."""
from dragon.vm.torch.fx import Graph  # noqa: F401
