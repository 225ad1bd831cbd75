"""`torch.ops.<namespace>.<name>`: operators by name."""
from dragon.vm.torch._ops import NAMESPACES as _namespaces, namespace as _namespace


def load_library(path):
    """Load a shared library of operators: one written for Dragon."""
    from dragon.core import config
    try:
        config.load_library(path)
    except RuntimeError as error:
        raise OSError(f"load_library: got {path!r}, expected a library of Dragon's: operators compiled for PyTorch "
                      f"need PyTorch ({error})") from None


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'", name=name)
    return _namespace(name)


def __dir__():
    return sorted({"aten", "dragon", "load_library", *_namespaces})
