"""Make a layer without filling its parameters."""
import inspect

from dragon.vm.torch.nn.modules.module import Module


def skip_init(module_cls, *args, **kwargs):
    """Return a layer whose parameters are not filled.

    Parameters
    ----------
    module_cls : type
        The layer's class; its constructor takes `device`.
    *args, **kwargs
        What the constructor takes.

    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final_device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=final_device)
