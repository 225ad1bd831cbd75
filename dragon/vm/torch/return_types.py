"""`torch.return_types`: the named tuples that functions with several results return."""
from dragon.vm.torch.core.results import CLASSES

globals().update(CLASSES)
all_return_types = list(CLASSES.values())
