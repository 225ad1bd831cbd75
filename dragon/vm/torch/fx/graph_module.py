"""`torch.fx.graph_module`, for those who import from there."""
from dragon.vm.torch.fx import GraphModule  # noqa: F401
