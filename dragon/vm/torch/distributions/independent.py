"""Axes of a batch as axes of one value."""
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import _sum_rightmost


class Independent(Distribution):
    """A distribution whose last batch axes make one value.

    Parameters
    ----------
    base_distribution : Distribution
        The distribution.
    reinterpreted_batch_ndims : int
        How many axes.

    """

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        event_dim = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(shape[:len(shape) - event_dim], shape[len(shape) - event_dim:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = Size(batch_shape)
        new.base_dist = self.base_dist.expand(batch_shape + self.event_shape[:self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        super(Independent, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self):
        """Whether the base distribution has it."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):
        """Whether values can be listed: only without reinterpreted axes."""
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        """The base distribution's support, with more axes per value."""
        support = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            support = constraints.independent(support, self.reinterpreted_batch_ndims)
        return support

    @property
    def mean(self):
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self):
        """The mode."""
        return self.base_dist.mode

    @property
    def variance(self):
        """The variance."""
        return self.base_dist.variance

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        """Return the logarithm of the density."""
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        """Return the entropy."""
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand=True):
        """Return all values along the first axis."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
