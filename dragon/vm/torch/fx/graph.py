"""`torch.fx.graph`, for those who import from there."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.fx import CodeGen, Graph  # noqa: F401

fill(globals(), "fx.graph")
