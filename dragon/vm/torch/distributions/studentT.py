"""Student's t distribution."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.chi2 import Chi2
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import _standard_normal, broadcast_all


class StudentT(Distribution):
    """Student's t distribution.

    Parameters
    ----------
    df : Union[float, Tensor]
        The degrees of freedom.
    loc : Union[float, Tensor], optional, default=0.0
        The center.

    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expands = ("df", "loc", "scale", "_chi2")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self):
        """The mean; NaN up to one degree of freedom."""
        mean = self.loc.clone(memory_format=torch.contiguous_format)
        mean[self.df <= 1] = torch.nan
        return mean

    mode = property(attrgetter("loc"), doc="The mode.")

    @property
    def variance(self):
        """The variance; infinite up to two degrees of freedom, NaN up to one."""
        df = self.df
        variance = df.clone(memory_format=torch.contiguous_format)
        variance[df > 2] = self.scale[df > 2].pow(2) * df[df > 2] / (df[df > 2] - 2)
        variance[(df <= 2) & (df > 1)] = torch.inf
        variance[df <= 1] = torch.nan
        return variance

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        normal = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * torch.rsqrt(squares / self.df))

    def log_prob(self, value):
        self._check_value(value)
        y = (value - self.loc) / self.scale
        normalizer = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df)
                      - torch.lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * torch.log1p(y ** 2.0 / self.df) - normalizer

    def entropy(self):
        log_beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        return (self.scale.log() + 0.5 * (self.df + 1)
                * (torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df))
                + 0.5 * self.df.log() + log_beta)
