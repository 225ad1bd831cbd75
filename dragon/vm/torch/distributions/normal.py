"""The normal distribution."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.utils import _standard_normal, broadcast_all


class Normal(ExponentialFamily):
    """The normal distribution.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The standard deviation.

    Examples
    --------
    >>> normal = torch.distributions.Normal(0.0, 1.0)
    >>> normal.log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    >>> normal.sample((5,)).shape
    torch.Size([5])

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = property(attrgetter("loc"), doc="The mean.")

    mode = mean

    stddev = property(attrgetter("scale"), doc="The standard deviation.")

    @property
    def variance(self):
        return self.stddev.pow(2)

    def sample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device) * self.scale

    def log_prob(self, value):
        self._check_value(value)
        return -((value - self.loc) ** 2) / (2 * self.scale ** 2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        self._check_value(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)
