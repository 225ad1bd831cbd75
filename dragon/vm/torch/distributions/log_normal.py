"""The log-normal distribution."""
from operator import attrgetter

from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import ExpTransform


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal.

    Parameters
    ----------
    loc : Union[float, Tensor]
        The mean of the logarithm.
    scale : Union[float, Tensor]
        The standard deviation of the logarithm.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expands = ()

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    loc = property(attrgetter("base_dist.loc"), doc="The mean of the logarithm.")
    scale = property(attrgetter("base_dist.scale"), doc="The standard deviation of the logarithm.")

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc
