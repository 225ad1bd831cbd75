"""`torch.export`: names of dynamic sizes; exported programs there are none, and asking says so."""
from dragon.vm.torch.core.absent import fill


class DimHint:
    """Whether a size may differ, without a name for it."""

    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return f"DimHint({self.kind})"


class Dim:
    """A size known at run time only, for `torch.onnx.export(dynamic_shapes=...)`.

    Parameters
    ----------
    name : str
        What it is called; inputs with a size of the same name have the same size.
    min : Optional[int]
        The smallest size that is allowed.
    max : Optional[int]
        The largest.

    """

    AUTO, DYNAMIC, STATIC = DimHint("AUTO"), DimHint("DYNAMIC"), DimHint("STATIC")

    def __init__(self, name, *, min=None, max=None):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"Dim: got name {name!r}, expected an identifier")
        if min is not None and max is not None and min >= max:
            raise ValueError(f"Dim: got min={min} and max={max}, expected min < max")
        self.__name__, self.min, self.max = name, min, max

    def __repr__(self):
        return f"Dim({self.__name__!r})"


def dims(*names, min=None, max=None):
    """Return a Dim for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ExportedProgram:
    """A program as a graph; there are none."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.export.ExportedProgram: Dragon traces no Python code into graphs")


def export(*args, **kwargs):
    """Raise: code is not traced."""
    raise NotImplementedError("torch.export.export: Dragon traces no Python code into graphs")


fill(globals(), "export")
