"""`torch.fx.graph_module`, for those who import from there."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.fx import GraphModule  # noqa: F401

__getattr__ = module_getattr("torch.fx.graph_module", globals())
