"""Small helpers that distributions share."""
from functools import update_wrapper

from dragon.vm import torch
from dragon.vm.torch.core.numbers import finfo

euler_constant = 0.57721566490153286060


def is_number(value):
    """Return whether a value is a Python number."""
    return isinstance(value, (int, float, complex))


def broadcast_all(*values):
    """Return tensors of one shape from tensors and numbers; numbers take the dtype of the first tensor.

    Raises
    ------
    ValueError
        If a value is neither.

    """
    if not all(isinstance(value, torch.Tensor) or is_number(value) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    first = next((value for value in values if isinstance(value, torch.Tensor)), None)
    options = {"dtype": torch.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
    return torch.broadcast_tensors(*(value if isinstance(value, torch.Tensor) else torch.tensor(value, **options)
                                     for value in values))


def _standard_normal(shape, dtype, device):
    """Return standard normal numbers."""
    return torch.normal(torch.zeros(shape, dtype=dtype, device=device), torch.ones(shape, dtype=dtype, device=device))


def _sum_rightmost(value, dim):
    """Sum over the last `dim` axes."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def clamp_probs(probs):
    """Keep probabilities off 0 and 1 by the spacing of their dtype."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary=False):
    """Return probabilities from logits."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary=False):
    """Return logits from probabilities."""
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


class lazy_property:
    """A property that is computed once, with gradients, and then stays with its object."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """A lazy property as its class shows it: a property, for documentation."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat, diag=0):
    """Return the entries of a lower triangle, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows = torch.arange(n, device=mat.device)
    return mat[..., rows < rows.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec, diag=0):
    """Return the lower triangular matrix of entries given row by row."""
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    eps = finfo(vec.dtype).eps
    if round(n) - n > eps * max(n, 1) * 16 or n - round(n) > eps * max(n, 1) * 16:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular "
                         "part of a square D x D matrix.")
    n = round(n)
    mat = vec.new_zeros(vec.shape[:-1] + (n, n))
    rows = torch.arange(n, device=vec.device)
    mat[..., rows < rows.view(-1, 1) + (diag + 1)] = vec
    return mat
