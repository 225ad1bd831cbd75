"""The half-normal distribution."""
import math

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AbsTransform


class HalfNormal(TransformedDistribution):
    """Absolute values of normal numbers of mean 0.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The standard deviation of the normal numbers.

    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfNormal, _instance))

    @property
    def scale(self):
        """The standard deviation of the normal numbers."""
        return self.base_dist.scale

    @property
    def mean(self):
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self):
        """Zero."""
        return torch.zeros_like(self.scale)

    @property
    def variance(self):
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value):
        """Return the cumulative distribution."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        """Return the quantile."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        """Return the entropy."""
        return self.base_dist.entropy() - math.log(2)
