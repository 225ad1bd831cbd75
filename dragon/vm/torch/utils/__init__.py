"""Tools beside the framework: `torch.utils`."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals(), {".swapping": "swap_tensors set_module"})
