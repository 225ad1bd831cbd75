"""How parameters begin: PyTorch's distributions, drawn from the stream in PyTorch's order."""
import functools
import math

from dragon.core import warnings
from dragon.core.modes import no_grad
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.tensor import ops

LINEAR = ("linear", *(f"{conv}{axes}d" for conv in ("conv", "conv_transpose") for axes in (1, 2, 3)))
GAINS = {**dict.fromkeys((*LINEAR, "sigmoid"), 1), "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
# Below this share of a normal distribution within the bounds, drawing uniform candidates wastes fewer numbers.
SHARE_FOR_NORMAL_DRAWS = 0.3


def calculate_gain(nonlinearity, param=None):
    """Return the recommended gain for what follows a layer.

    Parameters
    ----------
    nonlinearity : str
        Such as "linear", "tanh", "relu", "leaky_relu".
    param : float, optional
        The negative slope of "leaky_relu", 0.01 by default.

    Returns
    -------
    float
        The gain.

    """
    if nonlinearity in GAINS:
        return GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"calculate_gain: Unsupported nonlinearity {nonlinearity}, expected leaky_relu or one of "
                         f"{', '.join(GAINS)}")
    if param is None:
        param = 0.01
    if isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"calculate_gain: negative_slope {param} not a valid number")
    return math.sqrt(2 / (1 + param ** 2))


def _no_grad_uniform_(tensor, a, b, generator=None):
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor, val):
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor):
    with no_grad():
        return tensor.zero_()


@overridable
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill a tensor with numbers drawn uniformly from `a` to `b`."""
    return _no_grad_uniform_(tensor, a, b, generator)


@overridable
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill a tensor with numbers drawn from a normal distribution."""
    return _no_grad_normal_(tensor, mean, std, generator)


@overridable
def constant_(tensor, val):
    """Fill a tensor with one number."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor):
    """Fill a tensor with ones.

    Parameters
    ----------
    tensor : Tensor
        Is filled in place.

    Returns
    -------
    Tensor
        The tensor itself.

    Examples
    --------
    >>> nn.init.ones_(torch.empty(2))
    tensor([1., 1.])

    """
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    """Fill a tensor with zeros.

    Parameters
    ----------
    tensor : Tensor
        Is filled in place.

    Returns
    -------
    Tensor
        The tensor itself.

    Examples
    --------
    >>> nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])

    """
    return _no_grad_zero_(tensor)


def _is_meta(tensor):
    return tensor.device.type == "meta"


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill a tensor with numbers from a normal distribution, drawn anew while they are not within `[a, b]`.

    Parameters
    ----------
    tensor : Tensor
        What to fill.
    mean, std : float, optional, default=0.0, 1.0
        Of the normal distribution.
    a, b : float, optional, default=-2.0, 2.0
        The bounds.

    Examples
    --------
    >>> x = nn.init.trunc_normal_(torch.empty(1000), std=1.0, a=-2.0, b=2.0)
    >>> bool((x.abs() <= 2).all())
    True

    """
    return _no_grad_trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=None):
    if _is_meta(tensor):
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("trunc_normal_: got a mean more than 2 std from [a, b]; the distribution may be incorrect")
    below = [(1 + math.erf((bound - mean) / std / math.sqrt(2))) / 2 for bound in (a, b)]
    with no_grad():
        draw = _draw_normal_within if below[1] - below[0] > SHARE_FOR_NORMAL_DRAWS else _draw_candidates
        return draw(tensor, mean, std, a, b, generator)


def _draw_normal_within(tensor, mean, std, a, b, generator):
    """Draw normal numbers; where one is outside, take that of a next full draw."""
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    drawn = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = ops.logical_or(drawn < low, drawn > high)
        if not ops.any(outside).item():
            break
        drawn = ops.where(outside, ops.empty_like(drawn).normal_(mean, std, generator=generator), drawn)
    return tensor if drawn is tensor else tensor.copy_(drawn)


def _draw_candidates(tensor, mean, std, a, b, generator):
    """Draw uniform candidates between the bounds and accept each by the density there."""
    peak = max(a, min(mean, b))
    log_peak = -0.5 * ((peak - mean) / std) ** 2

    def refused(candidates):
        log_density = candidates.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return ops.empty_like(tensor).uniform_(generator=generator).log_() > log_density
    drawn = tensor.uniform_(a, b, generator=generator)
    pending = refused(drawn)
    while ops.any(pending).item():
        candidates = ops.empty_like(tensor).uniform_(a, b, generator=generator)
        drawn = ops.where(pending, candidates, drawn)
        pending = ops.logical_and(pending, refused(candidates))
    return tensor if drawn is tensor else tensor.copy_(drawn)


def eye_(tensor):
    """Fill a matrix with the identity."""
    if tensor.ndim != 2:
        raise ValueError("eye_: Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(ops.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor, groups=1):
    """Fill the weight of a convolution so that it passes its input channels on."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("dirac_: Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dirac_: dim 0 must be divisible by groups")
    if _is_meta(tensor):
        return tensor
    per_group = tensor.shape[0] // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    """Return how many inputs and outputs a weight connects."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _xavier_std(tensor, gain):
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fill a weight as Glorot and Bengio (2010) do, from a uniform distribution. ...

    Examples
    --------
    >>> weight = nn.init.xavier_uniform_(torch.empty(3, 3))
    >>> bool((weight.abs() <= 1).all())
    True

    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fill a weight as Glorot and Bengio (2010) do, from a normal distribution. ...

    Examples
    --------
    >>> nn.init.xavier_normal_(torch.empty(3, 3), gain=0.0).abs().sum()
    tensor(0.)

    """
    return _no_grad_normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """Return the deviation, or None for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op")
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


@overridable
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill a weight as He et al. (2015) do, from a uniform distribution.

    Parameters
    ----------
    tensor : Tensor
        The weight.
    a : float, optional, default=0
        The negative slope of the "leaky_relu" that follows.
    mode : {"fan_in", "fan_out"}, optional
        Whether the variance stays on the way forward or back.
    nonlinearity : str, optional, default="leaky_relu"
        What follows.
    generator : Generator, optional
        Where the numbers come from.

    Returns
    -------
    Tensor
        The tensor.

    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill a weight as He et al. (2015) do, from a normal distribution.

    Parameters
    ----------
    a : float, optional, default=0
        The slope below zero, for "leaky_relu".
    mode : {"fan_in", "fan_out"}, optional, default="fan_in"
        Whether the deviation stays forward or backward.

    Examples
    --------
    >>> nn.init.kaiming_normal_(torch.empty(8, 4), nonlinearity="relu").shape
    torch.Size([8, 4])

    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else _no_grad_normal_(tensor, 0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fill a weight with an orthogonal matrix: rows or columns, whichever are fewer, are orthonormal.

    Parameters
    ----------
    gain : float, optional, default=1
        A factor.

    Examples
    --------
    >>> weight = nn.init.orthogonal_(torch.empty(3, 3))
    >>> torch.allclose(weight @ weight.t(), torch.eye(3), atol=1e-5)
    True

    """
    if tensor.ndim < 2:
        raise ValueError("orthogonal_: Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or _is_meta(tensor):
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q, r = ops.linalg_qr(ops.t(drawn) if rows < columns else drawn)
        # The signs of R's diagonal make the distribution uniform over orthogonal matrices.
        q = q * ops.sign(ops.diagonal(r))
        q = ops.t(q) if rows < columns else q
        return tensor.copy_(ops.reshape(q, tensor.shape)).mul_(gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix from a normal distribution, with a share of each column zero."""
    if tensor.ndim != 2:
        raise ValueError("sparse_: Only tensors with 2 dimensions are supported")
    if _is_meta(tensor):
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[ops.randperm(rows)[:zeros], column] = 0
    return tensor


def _make_deprecate(current):
    """Return a function under its old name, without the underscore, which warns."""
    # The docstring is made when it is asked for, so that it is not taken over here.
    @functools.wraps(current, assigned=("__module__",))
    def old(*args, **kwargs):
        warnings.warn(f"`nn.init.{old.__name__}` is now deprecated in favor of `nn.init.{current.__name__}`.",
                      FutureWarning)
        return current(*args, **kwargs)
    old.__name__ = old.__qualname__ = current.__name__[:-1]
    old.__doc__ = f"Do what `{current.__name__}` does, under its old name."
    return old


uniform, normal, constant, eye, dirac = map(_make_deprecate, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = map(_make_deprecate, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_make_deprecate, (kaiming_uniform_, kaiming_normal_))
orthogonal, sparse = map(_make_deprecate, (orthogonal_, sparse_))
