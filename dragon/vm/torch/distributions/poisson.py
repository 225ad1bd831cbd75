"""The Poisson distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.utils import broadcast_all, is_number


class Poisson(ExponentialFamily):
    """Counts of rare events.

    Parameters
    ----------
    rate : Union[float, Tensor]
        The mean count.

    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self.rate, = broadcast_all(rate)
        super().__init__(Size() if is_number(rate) else self.rate.size(), validate_args=validate_args)

    @property
    def mean(self):
        """The mean."""
        return self.rate

    @property
    def mode(self):
        """The mode."""
        return self.rate.floor()

    @property
    def variance(self):
        """The variance."""
        return self.rate

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return self._expand_parameters(Poisson, batch_shape, ("rate",), _instance)

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (torch.log(self.rate),)

    def _log_normalizer(self, x):
        return torch.exp(x)
