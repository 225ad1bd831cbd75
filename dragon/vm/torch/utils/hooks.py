"""Handles of registered hooks, under the name that PyTorch has for them."""
from dragon.vm.torch.core.hooks import RemovableHandle  # noqa: F401
