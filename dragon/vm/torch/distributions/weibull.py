"""The Weibull distribution."""
from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.exponential import Exponential
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AffineTransform, PowerTransform
from dragon.vm.torch.distributions.utils import broadcast_all, euler_constant


class Weibull(TransformedDistribution):
    """Times to failure.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The scale, often called lambda.
    concentration : Union[float, Tensor]
        The shape, often called k.

    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self):
        return [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._get_checked_instance(Weibull, _instance)
        new.scale, new.concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()
        base = self.base_dist.expand(batch_shape)
        super(Weibull, new).__init__(base, new._steps(), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self):
        """The mean."""
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self):
        """The mode."""
        reciprocal = self.concentration_reciprocal
        return self.scale * ((self.concentration - 1) / self.concentration) ** reciprocal

    @property
    def variance(self):
        """The variance."""
        reciprocal = self.concentration_reciprocal
        return self.scale.pow(2) * (torch.exp(torch.lgamma(1 + 2 * reciprocal))
                                    - torch.exp(2 * torch.lgamma(1 + reciprocal)))

    def entropy(self):
        """Return the entropy."""
        return (euler_constant * (1 - self.concentration_reciprocal)
                + torch.log(self.scale * self.concentration_reciprocal) + 1)
