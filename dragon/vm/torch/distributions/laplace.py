"""The Laplace distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import all_numbers, broadcast_all


class Laplace(Distribution):
    """Two exponentials back to back.

    Parameters
    ----------
    loc : Union[float, Tensor]
        The mean.
    scale : Union[float, Tensor]
        The scale.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(Size() if all_numbers(loc, scale) else self.loc.size(), validate_args=validate_args)

    @property
    def mean(self):
        """The mean."""
        return self.loc

    mode = mean

    @property
    def variance(self):
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        """The standard deviation."""
        return 2 ** 0.5 * self.scale

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return self._expand_parameters(Laplace, batch_shape, ("loc", "scale"), _instance)

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        shape, finfo = self._extended_shape(sample_shape), torch.finfo(self.loc.dtype)
        u = self.loc.new(shape).uniform_(finfo.eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value):
        """Return the cumulative distribution."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * torch.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        """Return the quantile."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self):
        """Return the entropy."""
        return 1 + torch.log(2 * self.scale)
