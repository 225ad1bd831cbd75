"""Kullback-Leibler divergences: a table of pairs, and the way to enter more."""
from functools import total_ordering

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.distributions.distribution import Distribution

_KL_REGISTRY = {}
_KL_MEMOIZE = {}


def register_kl(type_p, type_q):
    """Enter a function of two distributions as the divergence of their classes; a decorator.

    Parameters
    ----------
    type_p : type
        The class of the first distribution.
    type_q : type
        The class of the second.

    Returns
    -------
    Callable
        The decorator.

    """
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function
    return decorator


@total_ordering
class _Match:
    """Classes in order of how particular they are: subclasses before their bases."""

    __slots__ = ("types",)

    def __init__(self, *types):
        self.types = types

    def __eq__(self, other):
        return self.types == other.types

    def __le__(self, other):
        for mine, theirs in zip(self.types, other.types):
            if not issubclass(mine, theirs):
                return False
            if mine is not theirs:
                break
        return True


def _dispatch_kl(type_p, type_q):
    """Return the most particular function for a pair of classes, or NotImplemented."""
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return NotImplemented
    left = min(_Match(*pair) for pair in matches).types
    right = tuple(reversed(min(_Match(*reversed(pair)) for pair in matches).types))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl("
                      f"{left[0].__name__}, {right[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[left]


def kl_divergence(p, q):
    """Return the Kullback-Leibler divergence of two distributions.

    Parameters
    ----------
    p : Distribution
        The one that values are drawn from.
    q : Distribution
        The one that they are coded for.

    Returns
    -------
    Tensor
        Of the batch shape.

    """
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    function = _KL_MEMOIZE[pair]
    if function is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
                                  f"{q.__class__.__name__}")
    return function(p, q)


def _infinite_like(tensor):
    """Return infinities in the shape of a tensor."""
    return torch.full_like(tensor, torch.inf)


def _x_log_x(tensor):
    """Return x log x."""
    return torch.special.xlogy(tensor, tensor)
