"""Tensors to and from other libraries without a copy: `torch.utils.dlpack`."""
from dragon import _C
from dragon.vm.torch.core.functions.creation import from_dlpack  # noqa: F401


def to_dlpack(tensor):
    """Return a capsule over the tensor's memory, for one use."""
    return _C.to_dlpack(tensor)
