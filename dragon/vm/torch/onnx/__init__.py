"""`torch.onnx`: models are not exported from here yet, and asking says so."""
from dragon.vm.torch.core.missing import module_getattr

producer_name, producer_version = "pytorch", "2.13.0"


def is_in_onnx_export():
    """Return False: nothing is being exported."""
    return False


def export(*args, **kwargs):
    """Raise: there is no exporter for modules yet."""
    raise NotImplementedError("torch.onnx.export: Dragon exports no modules to ONNX yet")


__getattr__ = module_getattr("torch.onnx", globals())
