"""The inverse gamma distribution."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.gamma import Gamma
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """Reciprocals of gamma numbers.

    Parameters
    ----------
    concentration : Union[float, Tensor]
        The shape of the gamma numbers.
    rate : Union[float, Tensor]
        Their rate.

    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expands = ()

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    concentration = property(attrgetter("base_dist.concentration"), doc="The shape.")
    rate = property(attrgetter("base_dist.rate"), doc="The rate.")

    @property
    def mean(self):
        """The mean; infinite for shapes up to 1."""
        result = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, result, torch.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        """The variance; infinite for shapes up to 2."""
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, result, torch.inf)

    def entropy(self):
        return (self.concentration + self.rate.log() + self.concentration.lgamma()
                - (1 + self.concentration) * self.concentration.digamma())
