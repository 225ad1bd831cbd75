"""The negative binomial distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from dragon.vm.torch.nn import functional


class NegativeBinomial(Distribution):
    """Successes before a number of failures.

    Parameters
    ----------
    total_count : Union[float, Tensor]
        The number of failures.
    probs : Tensor, optional
        The probability of success; or
    logits : Tensor, optional
        its log-odds.

    """

    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given, name = (logits, "logits") if probs is None else (probs, "probs")
        self.total_count, self._param = broadcast_all(total_count, given)
        setattr(self, name, self._param)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._expand_parameters(NegativeBinomial, batch_shape, ("total_count",), _instance,
                                      present=("probs", "logits"))
        new._param = new.__dict__.get("probs", new.__dict__.get("logits"))
        return new

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @property
    def mean(self):
        """The mean."""
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self):
        """The mode."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        """The variance."""
        return self.mean / torch.sigmoid(-self.logits)

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

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        unnormalized = (self.total_count * functional.logsigmoid(-self.logits)
                        + value * functional.logsigmoid(self.logits))
        normalization = (-torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value)
                         + torch.lgamma(self.total_count))
        return unnormalized - normalization.masked_fill(self.total_count + value == 0.0, 0.0)
