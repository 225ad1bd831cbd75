"""Activations of `torch.nn.functional`: the operators with PyTorch's `inplace=` and its notion of a default axis."""

from dragon.core import warnings
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import ops

relu_, elu_, selu_, celu_, leaky_relu_ = ops.relu_, ops.elu_, ops.selu_, ops.celu_, ops.leaky_relu_
hardtanh_, threshold_, rrelu_ = ops.hardtanh_, ops.threshold_, ops.rrelu_
_elu, _celu, _leaky_relu, _silu = ops.elu, ops.celu, ops.leaky_relu, ops.silu


def _activation(name, sentence):
    plain, in_place = getattr(ops, name), getattr(ops, name + "_")

    def activation(input, inplace=False):
        return in_place(input) if inplace else plain(input)
    return overridable(named(activation, name, sentence))


relu = _activation("relu", "Replace negative numbers by zero.")
relu6 = _activation("relu6", "Clamp to 0 and 6.")
selu = _activation("selu", "Apply ELU with the constants that keep mean and variance.")
hardsigmoid = _activation("hardsigmoid", "Clamp `x / 6 + 1 / 2` to 0 and 1.")
hardswish = _activation("hardswish", "Multiply by the hard sigmoid.")
mish = _activation("mish", "Multiply by `tanh(softplus(x))`.")


@overridable
def elu(input, alpha=1.0, inplace=False):
    """Bend negative numbers into `alpha * (exp(x) - 1)`."""
    return elu_(input, alpha) if inplace else _elu(input, alpha)


@overridable
def celu(input, alpha=1.0, inplace=False):
    """Apply the continuously differentiable ELU."""
    return celu_(input, alpha) if inplace else _celu(input, alpha)


@overridable
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """Scale negative numbers by a small slope."""
    return leaky_relu_(input, negative_slope) if inplace else _leaky_relu(input, negative_slope)


@overridable
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Scale negative numbers by slopes drawn at random in training, by their mean otherwise."""
    return rrelu_(input, lower, upper, training) if inplace else ops.rrelu(input, lower, upper, training)


@overridable
def threshold(input, threshold, value, inplace=False):
    """Replace what is not above a threshold by a value."""
    return threshold_(input, threshold, value) if inplace else ops.threshold(input, threshold, value)


def _whole_hardtanh(input, low, high, inplace):
    """Clamp integers to two numbers, which must be among those of their dtype."""
    if input.dtype.name == "uint8" and low < 0:
        raise RuntimeError(f"hardtanh: got min_val {low}, expected none below 0 for uint8")
    low, high = (ops.full((), bound, dtype=input.dtype) for bound in (low, high))
    return ops.clamp_(input, low, high) if inplace else ops.clamp(input, low, high)


@overridable
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Clamp to two numbers."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: got min_val {min_val}, expected at most max_val {max_val}")
    if not input.dtype.is_floating_point:
        return _whole_hardtanh(input, min_val, max_val, inplace)
    if min_val != min_val or max_val != max_val:
        made = ops.clamp(input, min_val, max_val)
        return input.copy_(made) if inplace else made
    return hardtanh_(input, min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)


@overridable
def silu(input, inplace=False):
    """Multiply by the sigmoid."""
    if input.dtype.is_complex:
        made = input * ops.sigmoid(input)
        return input.copy_(made) if inplace else made
    return ops.silu_(input) if inplace else _silu(input)


@overridable
def tanhshrink(input):
    """Subtract the hyperbolic tangent."""
    # The operator is for real floats; PyTorch takes all numbers.
    return ops.tanhshrink(input) if input.dtype.is_floating_point else input - ops.tanh(input)


@overridable
def softsign(input):
    """Divide by `1 + |x|`."""
    return ops.softsign(input) if input.dtype.is_floating_point else input / (ops.abs(input) + 1)


@overridable
def glu(input, dim=-1):
    """Gate the first half of an axis by the sigmoid of the second."""
    if input.ndim == 0:
        raise RuntimeError("glu: got a tensor without dims, expected a dim of even size")
    return ops.glu(input, dim)


def implicit_dim(name, ndim):
    """Return the axis that softmax took before it had to be named."""
    warnings.warn(f"{name}: got no dim, expected one: the dim chosen by the number of dims is deprecated")
    return 0 if ndim in (0, 1, 3) else 1


@overridable
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Exponentiate and divide by the sum along an axis."""
    if dim is None:
        dim = implicit_dim("softmax", input.ndim)
    return ops.softmax(input, dim, dtype=dtype)


@overridable
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """Apply softmax to the negated input."""
    if dim is None:
        dim = implicit_dim("softmin", input.ndim)
    return ops.softmin(input, dim, dtype=dtype)


@overridable
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return the logarithm of softmax, computed stably."""
    if dim is None:
        dim = implicit_dim("log_softmax", input.ndim)
    return ops.log_softmax(input, dim, dtype=dtype)


@overridable
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Draw from the Gumbel-softmax distribution: soft samples, or one-hot ones with the gradients of soft ones.

    Parameters
    ----------
    logits : Tensor
        Unnormalised log-probabilities.
    tau : float, optional, default=1
        Temperature.
    hard : bool, optional, default=False
        Whether the samples are one-hot.
    eps : float, optional
        Has no effect.
    dim : int, optional, default=-1
        The axis of the classes.

    Returns
    -------
    Tensor
        The samples, in the shape of the logits.

    """
    if eps != 1e-10:
        warnings.warn("gumbel_softmax: got eps, which is deprecated and has no effect")
    noise = -ops.log(ops.exponential(ops.empty_like(logits)))
    soft = ops.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    places = ops.max_axis(soft, dim, True)[1]
    ones = ops.scatter(ops.zeros_like(logits), dim, places, ops.ones_like(places, dtype=logits.dtype))
    return ones - soft.detach() + soft
