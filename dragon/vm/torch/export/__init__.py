"""`torch.export`: code is not traced into graphs, and asking says so."""
from dragon.vm.torch.core.missing import module_getattr


class ExportedProgram:
    """A program as a graph; there are none."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.export.ExportedProgram: Dragon traces no Python code into graphs")


def export(*args, **kwargs):
    """Raise: code is not traced."""
    raise NotImplementedError("torch.export.export: Dragon traces no Python code into graphs")


__getattr__ = module_getattr("torch.export", globals())
