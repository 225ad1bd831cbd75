"""The logistic normal distribution."""
from operator import attrgetter

from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.normal import Normal
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """Probabilities made of normal numbers by breaking a stick.

    Parameters
    ----------
    loc : Tensor
        Means along the last axis.
    scale : Tensor
        Standard deviations.

    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    _expands = ()

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = property(attrgetter("base_dist.base_dist.loc"), doc="The means.")
    scale = property(attrgetter("base_dist.base_dist.scale"), doc="The standard deviations.")
