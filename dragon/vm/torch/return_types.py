"""`torch.return_types`: the named tuples that functions with several results return."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.core.results import CLASSES

globals().update(CLASSES)
all_return_types = list(CLASSES.values())
__getattr__ = module_getattr("torch.return_types", globals())
