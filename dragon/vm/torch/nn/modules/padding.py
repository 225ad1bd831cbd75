"""Padding layers."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules._applied import Keeping
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import _ntuple, _pair, _quadruple


class _PadNd(Module):
    """The base of all padding: the amounts before and after each axis, the last axis first."""

    __constants__ = ["padding"]

    def forward(self, input):
        """Return the input, padded."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        """Return the amounts as text."""
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    """The base of padding with the other end."""

    _mode = "circular"

    def _check_input_dim(self, input):
        raise NotImplementedError(f"{type(self).__name__}: got no _check_input_dim, expected a class that defines it")

    def forward(self, input):
        self._check_input_dim(input)
        return super().forward(input)


class _ConstantPadNd(Keeping, takes="value"):
    """The base of padding with a number."""

    __constants__ = ["padding", "value"]

    def forward(self, input):
        """Return the input, padded."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        """Return the amounts and the number as text."""
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(_PadNd):
    """The base of padding with a mirror image."""

    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    """The base of padding with the last element."""

    _mode = "replicate"


_AMOUNTS = {1: _pair, 2: _quadruple, 3: _ntuple(6)}


def _make(base, kind, axes):
    """Return the padding class of a kind for a number of axes."""
    amounts = _AMOUNTS[axes]

    def __init__(self, padding):
        super(made, self).__init__()
        self.padding = amounts(padding)

    def _check_input_dim(self, input):
        if input.dim() not in (axes + 1, axes + 2):
            raise ValueError(f"expected {axes + 1}D or {axes + 2}D input (got {input.dim()}D input)")
    body = {"__init__": __init__, "__module__": __name__,
            "__doc__": f"Pad {axes} {'axis' if axes == 1 else 'axes'} {kind}; one amount, or two for each axis."}
    if base is _CircularPadNd:
        body["_check_input_dim"] = _check_input_dim
    made = type(f"{base.__name__[1:-2]}{axes}d", (base,), body)
    return made


def _make_constant(axes):
    """Return the class that pads a number of axes with a number, and the one that pads with zeros."""
    amounts = _AMOUNTS[axes]

    def init_constant(self, padding, value):
        super(constant, self).__init__(value)
        self.padding = amounts(padding)

    def init_zero(self, padding):
        super(zero, self).__init__(padding, 0.0)

    constant = type(f"ConstantPad{axes}d", (_ConstantPadNd,), {
        "__init__": init_constant, "__module__": __name__, "__doc__": f"Pad {axes} axes with a number."})
    zero = type(f"ZeroPad{axes}d", (constant,), {
        "__init__": init_zero, "extra_repr": _PadNd.extra_repr, "__module__": __name__,
        "__doc__": f"Pad {axes} axes with zeros."})
    return constant, zero


CircularPad1d, CircularPad2d, CircularPad3d = (_make(_CircularPadNd, "with the other end", axes) for axes in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _make(_ReflectionPadNd, "with a mirror image", axes) for axes in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _make(_ReplicationPadNd, "with the last element", axes) for axes in (1, 2, 3))
ConstantPad1d, ZeroPad1d = _make_constant(1)
ConstantPad2d, ZeroPad2d = _make_constant(2)
ConstantPad3d, ZeroPad3d = _make_constant(3)
