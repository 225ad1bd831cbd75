"""The Pareto distribution."""
from operator import attrgetter

from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.exponential import Exponential
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import AffineTransform, ExpTransform
from dragon.vm.torch.distributions.utils import broadcast_all


class Pareto(TransformedDistribution):
    """Sizes without a typical size.

    Parameters
    ----------
    scale : Union[float, Tensor]
        The smallest value.
    alpha : Union[float, Tensor]
        The shape.

    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _expands = ("scale", "alpha")

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args=validate_args),
                         [ExpTransform(), AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    @property
    def mean(self):
        """The mean; infinite for shapes up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = property(attrgetter("scale"), doc="The smallest value.")

    @property
    def variance(self):
        """The variance; infinite for shapes up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From the smallest value on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
