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

    def __mul__(self, other):
        return FollowingDim(self) * other

    def __add__(self, other):
        return FollowingDim(self) + other

    def __sub__(self, other):
        return FollowingDim(self) - other

    __rmul__, __radd__ = __mul__, __add__


class FollowingDim:
    """A size that follows another one: `2 * Dim("past") + 1`."""

    def __init__(self, root, factor=1, offset=0):
        self.root, self.factor, self.offset = root, factor, offset
        text = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        self.__name__ = text + (f" {'+-'[offset < 0]} {abs(offset)}" if offset else "")

    def __repr__(self):
        return f"Dim({self.__name__!r})"

    def _check(self, other, least=None):
        if not isinstance(other, int) or isinstance(other, bool) or least is not None and other < least:
            raise NotImplementedError(f"Dim: got {self.__name__} and {other!r}, expected an int"
                                      f"{'' if least is None else ' above 0'}: a size follows one other in a line")

    def __mul__(self, other):
        self._check(other, 1)
        return FollowingDim(self.root, self.factor * other, self.offset * other)

    def __add__(self, other):
        self._check(other)
        return FollowingDim(self.root, self.factor, self.offset + other)

    def __sub__(self, other):
        self._check(other)
        return self + -other

    __rmul__, __radd__ = __mul__, __add__


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
