"""Distributions of transformed values."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.independent import Independent
from dragon.vm.torch.distributions.transforms import ComposeTransform, Transform
from dragon.vm.torch.distributions.utils import _sum_rightmost


class TransformedDistribution(Distribution):
    """A distribution whose values go through transforms.

    Parameters
    ----------
    base_distribution : Distribution
        Whose values are transformed.
    transforms : Union[Transform, List[Transform]]
        One after another.

    """

    arg_constraints = {}
    _expands = ("transforms",)

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list) and all(isinstance(part, Transform) for part in transforms):
            self.transforms = transforms
        elif isinstance(transforms, list):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dim = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{whole.domain.event_dim}, but got {shape}.")
        forward = whole.forward_shape(shape)
        expanded = whole.inverse_shape(forward)
        if shape != expanded:
            base_distribution = base_distribution.expand(expanded[:len(expanded) - base_dim])
        more = whole.domain.event_dim - base_dim
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        event_dim = max(whole.codomain.event_dim, base_dim + whole.codomain.event_dim - whole.domain.event_dim)
        cut = len(forward) - event_dim
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        shape = new.batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        """The last transform's values."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    has_rsample = property(attrgetter("base_dist.has_rsample"), doc="Whether the base distribution has it.")

    def sample(self, sample_shape=Size()):
        with torch.no_grad():
            return self._transform(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=Size()):
        return self._transform(self.base_dist.rsample(sample_shape))

    def _transform(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        self._check_value(value)
        event_dim, log_prob, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(transform.log_abs_det_jacobian(x, y),
                                                 event_dim - transform.domain.event_dim)
            y = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value):
        """Turn a cumulative distribution round where the transforms decrease."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._transform(self.base_dist.icdf(self._monotonize_cdf(value)))
