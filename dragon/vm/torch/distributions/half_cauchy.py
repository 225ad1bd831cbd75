"""The half-Cauchy distribution."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.cauchy import Cauchy
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AbsTransform


class HalfCauchy(TransformedDistribution):
    """Absolute values of Cauchy numbers around 0.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The scale of the Cauchy numbers.

    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _expands = ()

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    scale = property(attrgetter("base_dist.scale"), doc="The scale.")

    @property
    def mean(self):
        """Infinite."""
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    mode = property(lambda self: torch.zeros_like(self.scale), doc="Zero.")

    variance = property(attrgetter("base_dist.variance"), doc="Infinite.")

    def log_prob(self, value):
        self._check_value(value)
        value = torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value):
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
