"""Tensors to and from other libraries without a copy: `torch.utils.dlpack`."""
from dragon import _C
from dragon.vm.torch.core.functions.creation import from_dlpack  # noqa: F401
from dragon.vm.torch.core.missing import module_getattr


def to_dlpack(tensor):
    """Return a capsule over the tensor's memory, for one use."""
    return _C.to_dlpack(tensor)


__getattr__ = module_getattr("torch.utils.dlpack", globals())
