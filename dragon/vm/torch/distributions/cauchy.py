"""The Cauchy distribution."""
import math

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import all_numbers, broadcast_all


class Cauchy(Distribution):
    """The ratio of two normal numbers; it has no mean.

    Parameters
    ----------
    loc : Union[float, Tensor]
        The median.
    scale : Union[float, Tensor]
        Half the width at half height.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(Size() if all_numbers(loc, scale) else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return self._expand_parameters(Cauchy, batch_shape, ("loc", "scale"), _instance)

    @property
    def mean(self):
        """NaN: there is none."""
        return torch.full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mode(self):
        """The mode."""
        return self.loc

    @property
    def variance(self):
        """Infinite."""
        return torch.full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        return self.loc + self.loc.new(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        """Return the cumulative distribution."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        """Return the quantile."""
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        """Return the entropy."""
        return math.log(4 * math.pi) + self.scale.log()
