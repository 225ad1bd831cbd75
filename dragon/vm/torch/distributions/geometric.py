"""The geometric distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import (broadcast_all, is_number, lazy_property, logits_to_probs,
                                                 probs_to_logits)
from dragon.vm.torch.nn.functional import binary_cross_entropy_with_logits


class Geometric(Distribution):
    """Failures before the first success.

    Parameters
    ----------
    probs : Union[float, Tensor], optional
        The probability of success; or
    logits : Union[float, Tensor], optional
        its log-odds.

    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        name = "logits" if probs is None else "probs"
        param, = broadcast_all(given)
        setattr(self, name, param)
        super().__init__(Size() if is_number(given) else param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(f"Expected parameter probs of distribution {self!r} to be positive, but found invalid "
                             f"values:\n{self.probs}")

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return self._expand_parameters(Geometric, batch_shape, (), _instance, present=("probs", "logits"))

    @property
    def mean(self):
        """The mean."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        """Zero."""
        return torch.zeros_like(self.probs)

    @property
    def variance(self):
        """The variance."""
        return (1.0 / self.probs - 1.0) / self.probs

    @lazy_property
    def logits(self):
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        shape, tiny = self._extended_shape(sample_shape), torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        """Return the entropy."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
