"""The log-normal distribution."""
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

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self):
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self):
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self):
        """The mean."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        """The mode."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        """The variance."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        """Return the entropy."""
        return self.base_dist.entropy() + self.loc
