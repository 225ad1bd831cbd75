"""The uniform distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import all_numbers, broadcast_all


class Uniform(Distribution):
    """Numbers in [low, high), all equally likely.

    Parameters
    ----------
    low : Union[float, Tensor]
        The lower end.
    high : Union[float, Tensor]
        The upper end.

    """

    has_rsample = True

    @property
    def arg_constraints(self):
        """Constraints by parameter."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(Size() if all_numbers(low, high) else self.low.size(), validate_args=validate_args)

    @property
    def mean(self):
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self):
        """NaN: there is no single one."""
        return torch.nan * self.high

    @property
    def stddev(self):
        """The standard deviation."""
        return (self.high - self.low) / 12 ** 0.5

    @property
    def variance(self):
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return self._expand_parameters(Uniform, batch_shape, ("low", "high"), _instance)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """The interval."""
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        shape = self._extended_shape(sample_shape)
        return self.low + torch.rand(shape, dtype=self.low.dtype, device=self.low.device) * (self.high - self.low)

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value):
        """Return the cumulative distribution."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        """Return the quantile."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """Return the entropy."""
        return torch.log(self.high - self.low)
