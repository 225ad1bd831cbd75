"""Activations as layers; attention stands in a file of its own."""

from dragon.core import warnings
from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torch.nn.modules._attention import MultiheadAttention  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty
from dragon.vm.torch.nn.parameter import Parameter


class Threshold(Applied, call="threshold(input; threshold, value, inplace=False)"):
    """Keep what is above a threshold, put a value in the place of the rest.

    Parameters
    ----------
    threshold, value : float
        The threshold and the value.
    inplace : bool, optional, default=False
        Overwrite the input.

    """


class ReLU(Applied, call="relu(input; inplace=False)"):
    """Apply `max(0, x)`.

    Parameters
    ----------
    inplace : bool, optional, default=False
        Overwrite the input.

    Examples
    --------
    >>> nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])

    """


class RReLU(Applied, call="rrelu(input; lower=1.0 / 8, upper=1.0 / 3, inplace=False, training=self.training)"):
    """Apply a leaky ReLU whose slope is drawn anew for each element while training.

    Parameters
    ----------
    lower, upper : float, optional, default=1/8, 1/3
        Between which slopes are drawn.
    inplace : bool, optional, default=False
        Overwrite the input.

    """


class Hardtanh(Applied, call="hardtanh(input)"):
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

    __constants__ = _options = ["min_val", "max_val", "inplace"]

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        for old, name in ((min_value, "min"), (max_value, "max")):
            if old is not None:
                warnings.warn(f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`",
                              FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"Hardtanh: got max_val {self.max_val}, expected it above min_val {self.min_val}")


class ReLU6(Hardtanh):
    """Apply `min(max(0, x), 6)`."""

    _shown = ()

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


class Sigmoid(Applied, call="sigmoid(input)"):
    """Apply `1 / (1 + exp(-x))`.

    Parameters
    ----------
    *args, **kwargs : Any
        Nothing.

    Examples
    --------
    >>> nn.Sigmoid()(torch.tensor([0.0, 100.0]))
    tensor([0.5000, 1.0000])

    """


class Hardsigmoid(Applied, call="hardsigmoid(input; inplace=False)"):
    """Apply the sigmoid's piecewise linear stand-in, `relu6(x + 3) / 6`."""

    extra_repr = Module.extra_repr


class Tanh(Applied, call="tanh(input)"):
    """Apply the hyperbolic tangent.

    Parameters
    ----------
    *args, **kwargs : Any
        Nothing.

    Examples
    --------
    >>> nn.Tanh()(torch.tensor([0.0, 100.0]))
    tensor([0., 1.])

    """


class SiLU(Applied, call="silu(input; inplace=False)"):
    """Apply `x sigmoid(x)`.

    Parameters
    ----------
    inplace : bool, optional, default=False
        Overwrite the input.

    Examples
    --------
    >>> nn.SiLU()(torch.tensor([0.0, 100.0]))
    tensor([  0., 100.])

    """


class Mish(Applied, call="mish(input; inplace=False)"):
    """Apply `x tanh(softplus(x))`."""


class Hardswish(Applied, call="hardswish(input; inplace=False)"):
    """Apply `x relu6(x + 3) / 6`."""

    extra_repr = Module.extra_repr


class ELU(Applied, call="elu(input; alpha=1.0, inplace=False)"):
    """Apply `x`, below zero `alpha (exp(x) - 1)`.

    Parameters
    ----------
    alpha : float, optional, default=1.0
        The scale below zero.
    inplace : bool, optional, default=False
        Overwrite the input.

    """


class CELU(Applied, call="celu(input; alpha=1.0, inplace=False)"):
    """Apply `x`, below zero `alpha (exp(x / alpha) - 1)`; see ELU for the parameters."""


class SELU(Applied, call="selu(input; inplace=False)"):
    """Apply the ELU that keeps mean 0 and variance 1."""


class GLU(Applied, call="glu(input; dim=-1)"):
    """Split in halves `a, b` along an axis and apply `a sigmoid(b)`."""


class GELU(Applied, call="gelu(input; approximate='none')"):
    """Apply `x Phi(x)`; `approximate="tanh"` takes the approximation.

    Parameters
    ----------
    approximate : {"none", "tanh"}, optional, default="none"
        Whether the formula with tanh is taken.

    Examples
    --------
    >>> nn.GELU()(torch.tensor([0.0, 10.0]))
    tensor([ 0., 10.])

    """

    def extra_repr(self):
        """Return the option as text."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Applied, call="hardshrink(input; lambd=0.5)"):
    """Put zero in the place of what is within `lambd` of it."""

    def extra_repr(self):
        """Return how far it shrinks as text."""
        return str(self.lambd)


class Softshrink(Applied, call="softshrink(input; lambd=0.5)"):
    """Move everything towards zero by `lambd`."""

    extra_repr = Hardshrink.extra_repr


class LeakyReLU(Applied, call="leaky_relu(input; negative_slope=0.01, inplace=False)"):
    """Apply `x`, below zero `negative_slope x`.

    Parameters
    ----------
    negative_slope : float, optional, default=0.01
        What negative numbers are multiplied by.
    inplace : bool, optional, default=False
        Overwrite the input.

    Examples
    --------
    >>> nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])

    """

    __constants__ = ["inplace", "negative_slope"]


class LogSigmoid(Applied, call="logsigmoid(input)"):
    """Apply the logarithm of the sigmoid."""


class Softplus(Applied, call="softplus(input; beta=1.0, threshold=20.0)"):
    """Apply `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is above the threshold."""


class PReLU(Applied, call="prelu(input; weight=self.weight)"):
    """Apply a leaky ReLU whose slope is learned.

    Parameters
    ----------
    num_parameters : int, optional, default=1
        One slope, or one for each channel.
    init : float, optional, default=0.25
        What slopes begin with.
    device : Union[device, str], optional
        Where the slopes live.

    Examples
    --------
    >>> nn.PReLU()(torch.tensor([-4.0, 2.0])).detach()
    tensor([-1.,  2.])

    """

    __constants__ = ["num_parameters"]
    _shown = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Set the slopes to what they begin with."""
        init.constant_(self.weight, self.init)


class Softsign(Applied, call="softsign(input)"):
    """Apply `x / (1 + |x|)`."""


class Tanhshrink(Applied, call="tanhshrink(input)"):
    """Apply `x - tanh(x)`."""


class _OverAxis(Applied, takes="dim=None"):
    """The base of what normalizes over an axis; without one, an axis is guessed, with a warning."""

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)


class Softmin(_OverAxis, call="softmin(input; _stacklevel=5)"):
    """Apply softmax to the negated input."""


class Softmax(_OverAxis, call="softmax(input; _stacklevel=5)"):
    """Apply `exp(x) / sum(exp(x))` over an axis.

    Parameters
    ----------
    dim : int, optional
        The axis along which the result adds up to 1.

    Examples
    --------
    >>> nn.Softmax(dim=-1)(torch.tensor([[0.0, 0.0], [5.0, 5.0]]))
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])

    """


class LogSoftmax(_OverAxis, call="log_softmax(input; _stacklevel=5)"):
    """Apply the logarithm of softmax over an axis."""


class Softmax2d(Module):
    """Apply softmax over the channels of `(N, C, H, W)` or `(C, H, W)`."""

    def forward(self, input):
        """Return the activation."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
