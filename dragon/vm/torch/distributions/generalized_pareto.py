"""The generalized Pareto distribution."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import broadcast_all


class GeneralizedPareto(Distribution):
    """Excesses over a high threshold.

    Parameters
    ----------
    loc : Union[float, Tensor]
        The threshold.
    concentration : Union[float, Tensor]
        The shape: 0 gives an exponential, positive ones heavier tails, negative ones an upper end.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _expands = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _split(self):
        """Return where the shape is 0, and the shape with 1 in its place, to divide by."""
        zero = torch.tensor(0.0, dtype=self.concentration.dtype, device=self.concentration.device)
        exponential = torch.isclose(self.concentration, zero)
        return exponential, torch.where(exponential, torch.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=Size()):
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(u)

    def log_prob(self, value):
        self._check_value(value)
        z, (exponential, safe) = self._z(value), self._split()
        heavy = -(1 + 1 / safe) * torch.log1p(safe * z)
        return torch.where(exponential, -z, heavy) - torch.log(self.scale)

    def log_survival_function(self, value):
        """Return the logarithm of the probability of larger values."""
        self._check_value(value)
        z, (exponential, safe) = self._z(value), self._split()
        return torch.where(exponential, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value):
        """Return the logarithm of the cumulative distribution."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        exponential, safe = self._split()
        log_u = torch.log1p(-value)
        heavy = self.loc + self.scale * torch.expm1(-safe * log_u) / safe
        return torch.where(exponential, self.loc - self.scale * log_u, heavy)

    def _z(self, x):
        return (x - self.loc) / self.scale

    @property
    def mean(self):
        """The mean; infinite for shapes from 1 on."""
        below = self.concentration < 1
        safe = torch.where(below, self.concentration, 0.5)
        return torch.where(below, self.loc + self.scale / (1 - safe), torch.full_like(self.loc, torch.inf))

    @property
    def variance(self):
        """The variance; infinite for shapes from one half on."""
        below = self.concentration < 0.5
        safe = torch.where(below, self.concentration, 0.25)
        value = self.scale ** 2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(below, value, torch.full_like(self.loc, torch.inf))

    def entropy(self):
        return torch.log(self.scale) + self.concentration + 1

    mode = property(attrgetter("loc"), doc="The threshold.")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From the threshold on, to an upper end for negative shapes."""
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, torch.inf)
        return constraints.interval(self.loc, upper)
