"""Activations as layers; attention stands in a file of its own."""
import warnings

from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules._attention import MultiheadAttention  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty
from dragon.vm.torch.nn.parameter import Parameter


class _Inplace(Module):
    """An activation whose only option is to overwrite its input."""

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        """Return the option as text."""
        return "inplace=True" if self.inplace else ""


class _Shown(Module):
    """An activation whose options are shown by name."""

    def extra_repr(self):
        """Return the options as text."""
        text = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return text + ", inplace=True" if getattr(self, "inplace", False) else text


class Threshold(_Shown):
    """Keep what is above a threshold, put a value in the place of the rest.

    Parameters
    ----------
    threshold, value : float
        The threshold and the value.
    inplace : bool, optional, default=False
        Overwrite the input.

    """

    __constants__ = ["threshold", "value", "inplace"]
    _shown = ("threshold", "value")

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input):
        """Return the activation."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class ReLU(_Inplace):
    """Apply `max(0, x)`."""

    def forward(self, input):
        """Return the activation."""
        return F.relu_(input) if self.inplace else F.relu(input)


class RReLU(_Shown):
    """Apply a leaky ReLU whose slope is drawn anew for each element while training.

    Parameters
    ----------
    lower, upper : float, optional, default=1/8, 1/3
        Between which slopes are drawn.
    inplace : bool, optional, default=False
        Overwrite the input.

    """

    __constants__ = ["lower", "upper", "inplace"]
    _shown = ("lower", "upper")

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input):
        """Return the activation."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_Shown):
    """Cut off what is outside an interval.

    Parameters
    ----------
    min_val, max_val : float, optional, default=-1.0, 1.0
        The interval.
    inplace : bool, optional, default=False
        Overwrite the input.
    min_value, max_value : float, optional
        The old names of the first two.

    """

    __constants__ = ["min_val", "max_val", "inplace"]
    _shown = ("min_val", "max_val")

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        for old, name in ((min_value, "min"), (max_value, "max")):
            if old is not None:
                warnings.warn(f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`",
                              FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"Hardtanh: got max_val {self.max_val}, expected it above min_val {self.min_val}")

    def forward(self, input):
        """Return the activation."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """Apply `min(max(0, x), 6)`."""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        """Return the option as text."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """Apply `1 / (1 + exp(-x))`."""

    def forward(self, input):
        """Return the activation."""
        return F.sigmoid(input)


class Hardsigmoid(_Inplace):
    """Apply the sigmoid's piecewise linear stand-in, `relu6(x + 3) / 6`."""

    extra_repr = Module.extra_repr

    def forward(self, input):
        """Return the activation."""
        return F.hardsigmoid(input, self.inplace)


class Tanh(Module):
    """Apply the hyperbolic tangent."""

    def forward(self, input):
        """Return the activation."""
        return F.tanh(input)


class SiLU(_Inplace):
    """Apply `x sigmoid(x)`."""

    def forward(self, input):
        """Return the activation."""
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """Apply `x tanh(softplus(x))`."""

    def forward(self, input):
        """Return the activation."""
        return F.mish(input, inplace=self.inplace)


class Hardswish(_Inplace):
    """Apply `x relu6(x + 3) / 6`."""

    extra_repr = Module.extra_repr

    def forward(self, input):
        """Return the activation."""
        return F.hardswish(input, self.inplace)


class ELU(_Shown):
    """Apply `x`, below zero `alpha (exp(x) - 1)`.

    Parameters
    ----------
    alpha : float, optional, default=1.0
        The scale below zero.
    inplace : bool, optional, default=False
        Overwrite the input.

    """

    __constants__ = ["alpha", "inplace"]
    _shown = ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        """Return the activation."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Shown):
    """Apply `x`, below zero `alpha (exp(x / alpha) - 1)`; see ELU for the parameters."""

    __constants__ = ["alpha", "inplace"]
    _shown = ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        """Return the activation."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """Apply the ELU that keeps mean 0 and variance 1."""

    def forward(self, input):
        """Return the activation."""
        return F.selu(input, self.inplace)


class GLU(_Shown):
    """Split in halves `a, b` along an axis and apply `a sigmoid(b)`."""

    __constants__ = ["dim"]
    _shown = ("dim",)

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        """Return the activation."""
        return F.glu(input, self.dim)


class GELU(Module):
    """Apply `x Phi(x)`; `approximate="tanh"` takes the approximation."""

    __constants__ = ["approximate"]

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        """Return the activation."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        """Return the option as text."""
        return f"approximate={self.approximate!r}"


class _Shrink(Module):
    """What shrinks towards zero: its only option is how far."""

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        """Return the option as text."""
        return str(self.lambd)


class Hardshrink(_Shrink):
    """Put zero in the place of what is within `lambd` of it."""

    def forward(self, input):
        """Return the activation."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """Move everything towards zero by `lambd`."""

    def forward(self, input):
        """Return the activation."""
        return F.softshrink(input, self.lambd)


class LeakyReLU(_Shown):
    """Apply `x`, below zero `negative_slope x`."""

    __constants__ = ["inplace", "negative_slope"]
    _shown = ("negative_slope",)

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        """Return the activation."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(Module):
    """Apply the logarithm of the sigmoid."""

    def forward(self, input):
        """Return the activation."""
        return F.logsigmoid(input)


class Softplus(_Shown):
    """Apply `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is above the threshold."""

    __constants__ = ["beta", "threshold"]
    _shown = ("beta", "threshold")

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input):
        """Return the activation."""
        return F.softplus(input, self.beta, self.threshold)


class PReLU(_Shown):
    """Apply a leaky ReLU whose slope is learned.

    Parameters
    ----------
    num_parameters : int, optional, default=1
        One slope, or one for each channel.
    init : float, optional, default=0.25
        What slopes begin with.
    device : Union[device, str], optional
        Where the slopes live.
    dtype : dtype, optional
        Their type.

    """

    __constants__ = ["num_parameters"]
    _shown = ("num_parameters",)

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Set the slopes to what they begin with."""
        init.constant_(self.weight, self.init)

    def forward(self, input):
        """Return the activation."""
        return F.prelu(input, self.weight)


class Softsign(Module):
    """Apply `x / (1 + |x|)`."""

    def forward(self, input):
        """Return the activation."""
        return F.softsign(input)


class Tanhshrink(Module):
    """Apply `x - tanh(x)`."""

    def forward(self, input):
        """Return the activation."""
        return F.tanhshrink(input)


class _OverAxis(Module):
    """What normalizes over an axis; without one, an axis is guessed, with a warning."""

    __constants__ = ["dim"]

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self):
        """Return the axis as text."""
        return f"dim={self.dim}"


class Softmin(_OverAxis):
    """Apply softmax to the negated input."""

    def forward(self, input):
        """Return the activation."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_OverAxis):
    """Apply `exp(x) / sum(exp(x))` over an axis."""

    def forward(self, input):
        """Return the activation."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_OverAxis):
    """Apply the logarithm of softmax over an axis."""

    def forward(self, input):
        """Return the activation."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Apply softmax over the channels of `(N, C, H, W)` or `(C, H, W)`."""

    def forward(self, input):
        """Return the activation."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
