"""`torch.fx.experimental.symbolic_shapes`: what exported programs say of sizes that vary."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.core.exporting.errors import GuardOnDataDependentSymNode  # noqa: F401
from dragon.vm.torch.core.exporting.symbols import ValueRanges  # noqa: F401

fill(globals(), "fx.experimental.symbolic_shapes")
