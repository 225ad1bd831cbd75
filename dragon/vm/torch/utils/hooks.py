"""Handles of registered hooks, under the name that PyTorch has for them."""
from dragon.vm.torch.core.hooks import RemovableHandle  # noqa: F401
from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.utils.hooks", globals())
