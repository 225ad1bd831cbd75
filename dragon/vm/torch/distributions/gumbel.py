"""The Gumbel distribution."""
import math

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AffineTransform, ExpTransform
from dragon.vm.torch.distributions.uniform import Uniform
from dragon.vm.torch.distributions.utils import broadcast_all, euler_constant, is_number


class Gumbel(TransformedDistribution):
    """Largest of many numbers.

    Parameters
    ----------
    loc : Union[float, Tensor]
        The mode.
    scale : Union[float, Tensor]
        The scale.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = torch.finfo(self.loc.dtype)
        if is_number(loc) and is_number(scale):
            base = Uniform(finfo.tiny, 1 - finfo.eps, validate_args=validate_args)
        else:
            base = Uniform(torch.full_like(self.loc, finfo.tiny), torch.full_like(self.loc, 1 - finfo.eps),
                           validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self):
        return [ExpTransform().inv, AffineTransform(loc=0, scale=-torch.ones_like(self.scale)), ExpTransform().inv,
                AffineTransform(loc=self.loc, scale=-self.scale)]

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self):
        """The mean."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        """The mode."""
        return self.loc

    @property
    def stddev(self):
        """The standard deviation."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        """The variance."""
        return self.stddev.pow(2)

    def entropy(self):
        """Return the entropy."""
        return self.scale.log() + (1 + euler_constant)
