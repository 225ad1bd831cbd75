"""Normalization, distances, dropout: the operators and PyTorch's checks of what they are given."""
import math

from dragon.core import warnings
from dragon.vm.torch.core.register import function, overridable
from dragon.vm.torch.core.tensor import Tensor, ops

_batch_norm, _dropout = ops.batch_norm, ops.dropout


@overridable
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalize each channel over the batch, or by running statistics, which training updates."""
    if training:
        shape = tuple(input.shape)
        if shape[0] * math.prod(shape[2:]) == 1:
            raise ValueError(f"batch_norm: got input of {input.shape} in training, expected more than one value per "
                             f"channel. Expected more than 1 value per channel when training, got input size "
                             f"{input.shape}")
    elif running_mean is None or running_var is None:
        raise RuntimeError("batch_norm: got no running_mean or running_var, expected both where training=False")
    if eps < 0 or training and eps == 0:
        when = " during training" if training else ""
        raise ValueError(f"batch_norm: batch_norm eps must be positive{when}, but got {eps}")
    if momentum is None:
        momentum = 0.0
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@overridable
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    """Normalize each channel of each sample."""
    if use_input_stats and math.prod(tuple(input.shape)[2:]) == 1:
        raise ValueError(f"instance_norm: got input of {input.shape} in training, expected more than one spatial "
                         f"element. Expected more than 1 spatial element when training, got input size {input.shape}")
    return ops.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@overridable
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalize groups of channels of each sample."""
    if input.ndim < 2:
        raise RuntimeError(f"group_norm: got input of {input.shape}, expected at least 2 dims. Expected at least 2 "
                           f"dimensions for input tensor but received {input.ndim}")
    shape = tuple(input.shape)
    if math.prod(shape) // (num_groups or 1) == 1:
        raise ValueError(f"group_norm: got input of {input.shape} in {num_groups} groups, expected more than one value "
                         f"in each. Expected more than 1 value per channel when training, got input size "
                         f"{list(input.shape)}")
    return ops.group_norm(input, num_groups, weight, bias, eps)


@overridable
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide by a power of the squares of neighbouring channels."""
    if input.ndim < 3:
        raise ValueError(f"local_response_norm: got input of {input.shape}, expected at least 3 dims")
    if input.numel() == 0:
        return input
    if input.dtype.is_floating_point:
        return ops.local_response_norm(input, size, alpha, beta, k)
    # Means of whole numbers are whole ones.
    widths = [0, 0] * (input.ndim - 2) + [size // 2, (size - 1) // 2]
    squares = ops.unfold(ops.pad(input * input, widths), 1, size, 1)
    return input / ops.pow(ops.floor_divide(ops.sum(squares, -1), size) * alpha + k, beta)


@function
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root of the mean square over the last axes."""
    if not input.dtype.is_complex:
        return ops.rms_norm(input, normalized_shape, weight, eps)
    axes = tuple(range(-len(normalized_shape), 0))
    epsilon = 2.0 ** (-52 if input.dtype.name == "complex128" else -23) if eps is None else eps
    made = input * ops.rsqrt(ops.mean(ops.square(input), axes, True) + epsilon)
    return made if weight is None else made * weight


@overridable
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divide vectors along an axis by their norm, or by `eps` if that is greater."""
    return ops.normalize(input, p, dim, eps) if out is None else ops.normalize(input, p, dim, eps, out=out)


def require_probability(p):
    """Raise unless a number is a probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: got p {p}, expected 0 to 1: dropout probability has to be between 0 and 1, but got "
                         f"{p}")


@overridable
def dropout(input, p=0.5, training=True, inplace=False):
    """Set elements to zero with a probability, and scale the rest."""
    if not 0.0 <= p <= 1.0:
        require_probability(p)
    if not inplace:
        return _dropout(input, p, training)
    # Where nothing is dropped nothing is written either: what was saved for gradients is still good.
    return ops.dropout_(input, p, training) if training and p > 0 else untouched("dropout", input)


def untouched(who, input):
    """Return a tensor that nothing is to be done to."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{who}: got '{type(input).__name__}' for argument 'input', expected a tensor")
    return input


@overridable
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Set elements to SELU's negative limit with a probability, keeping mean and variance."""
    require_probability(p)
    if not training or p == 0:
        return untouched("alpha_dropout", input)
    return ops.alpha_dropout_(input, p, True) if inplace else ops.alpha_dropout(input, p, True)


@overridable
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Set whole channels to SELU's negative limit with a probability, keeping mean and variance."""
    require_probability(p)
    if not training or p == 0:
        return untouched("feature_alpha_dropout", input)
    return (ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout)(input, p, True)


def drop_channels(input, p, training, inplace):
    """Set whole channels of a batch to zero."""
    if not training or p == 0:
        return input
    return (ops.feature_dropout_ if inplace else ops.feature_dropout)(input, p, True)


def drop_channels_of_one(input, p, training, inplace):
    """Set whole channels of a sample without a batch axis to zero."""
    whole = drop_channels(ops.unsqueeze(input, 0), p, training, inplace)
    return input if inplace else ops.squeeze(whole, 0)


@overridable
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Set whole channels of (N, C, L) or (C, L) to zero with a probability."""
    require_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: got input of {input.shape}, expected 2 or 3 dims")
    drop = drop_channels if input.ndim == 3 else drop_channels_of_one
    return drop(input, p, training, inplace)


@overridable
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Set whole channels of (N, C, H, W) to zero with a probability."""
    require_probability(p)
    if input.ndim != 4:
        warnings.warn(f"dropout2d: got input of {input.shape}, expected 4 dims; three are read as (N, C, L)")
    return drop_channels(input, p, training, inplace)


@overridable
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Set whole channels of (N, C, D, H, W) or (C, D, H, W) to zero with a probability."""
    require_probability(p)
    if input.ndim not in (4, 5):
        warnings.warn(f"dropout3d: got input of {input.shape}, expected 4 or 5 dims")
    drop = drop_channels if input.ndim == 5 else drop_channels_of_one
    return drop(input, p, training, inplace)


@function
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Return the cosine of the angle between vectors along an axis."""
    if tuple(x1.shape) != tuple(x2.shape):
        # Norms are of whole vectors, so the axis has to be there in full.
        shape = ops.add(ops.empty(x1.shape, device="meta"), ops.empty(x2.shape, device="meta")).shape
        x1, x2 = ops.expand(x1, shape), ops.expand(x2, shape)
    return ops.cosine_similarity(x1, x2, dim, eps)
