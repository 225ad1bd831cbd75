"""The negative binomial distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByOdds, ByParameter
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.utils import lazy_property
from dragon.vm.torch.nn import functional


class NegativeBinomial(ByOdds, ByParameter, Distribution):
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
    _expands = ("total_count", "probs", "logits", "_param")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        total_count, = self._take(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=Size()):
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        self._check_value(value)
        unnormalized = (self.total_count * functional.logsigmoid(-self.logits)
                        + value * functional.logsigmoid(self.logits))
        normalization = (-torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value)
                         + torch.lgamma(self.total_count))
        return unnormalized - normalization.masked_fill(self.total_count + value == 0.0, 0.0)
