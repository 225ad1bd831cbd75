"""The binomial distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def _clamp_by_zero(x):
    """Return the positive part, whose gradient at zero is one half."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(Distribution):
    """Successes among a number of trials.

    Parameters
    ----------
    total_count : Union[int, Tensor], optional, default=1
        How many trials.
    probs : Tensor, optional
        The probability of success; or
    logits : Tensor, optional
        its log-odds.

    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given, name = (logits, "logits") if probs is None else (probs, "probs")
        self.total_count, param = broadcast_all(total_count, given)
        setattr(self, name, param)
        self.total_count = self.total_count.type_as(param)
        self._param = param
        super().__init__(param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._expand_parameters(Binomial, batch_shape, ("total_count",), _instance, present=("probs", "logits"))
        new._param = new.__dict__.get("probs", new.__dict__.get("logits"))
        return new

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """The counts."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self):
        """The mode."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    @lazy_property
    def logits(self):
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._param.size()

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        ways = torch.lgamma(self.total_count + 1) - torch.lgamma(value + 1) - torch.lgamma(self.total_count - value + 1)
        normalizer = (self.total_count * _clamp_by_zero(self.logits)
                      + self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits))))
        return value * self.logits + ways - normalizer

    def entropy(self):
        """Return the entropy, if all distributions have one number of trials."""
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        """Return all counts along the first axis, if all distributions have one number of trials."""
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
