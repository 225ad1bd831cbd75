"""What libraries take from PyTorch's compiled functions of layers."""
from dragon.vm.torch.core.functions.conversion import parse_to
from dragon.vm.torch.core.missing import module_getattr


def _parse_to(*args, **kwargs):
    """Return (device, dtype, non_blocking, memory_format) from the arguments of `Module.to`."""
    kwargs = dict(kwargs)
    where, dtype, _, memory_format = parse_to(args, kwargs)
    return where, dtype, bool(kwargs.get("non_blocking", False)), memory_format


__getattr__ = module_getattr("torch._C._nn", globals())
