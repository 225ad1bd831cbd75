"""`torch.nested`: a name that scripts import; Dragon has no nested tensors, and every name of it says so."""
from dragon.vm.torch.core.absent import fill

fill(globals(), "nested")
