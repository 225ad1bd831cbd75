"""The half-normal distribution."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AbsTransform


class _Half(TransformedDistribution):
    """Absolute values of the numbers of a distribution that is even about 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    scale = property(attrgetter("base_dist.scale"), doc="The scale.")
    mode = property(lambda self: torch.zeros_like(self.scale), doc="Zero.")

    def log_prob(self, value):
        self._check_value(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value):
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """Absolute values of normal numbers of mean 0.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The standard deviation of the normal numbers.

    """

    _expands = ()

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    scale = property(attrgetter("base_dist.scale"), doc="The standard deviation of the normal numbers.")

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.pow(2) * (1 - 2 / math.pi)
