"""The beta distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.dirichlet import Dirichlet
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.utils import all_numbers, broadcast_all


class Beta(ExponentialFamily):
    """Probabilities of a coin.

    Parameters
    ----------
    concentration1 : Union[float, Tensor]
        The weight of 1, often called alpha.
    concentration0 : Union[float, Tensor]
        The weight of 0, often called beta.

    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if all_numbers(concentration1, concentration0):
            pair = torch.tensor([float(concentration1), float(concentration0)])
        else:
            pair = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        super(Beta, new).__init__(Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self):
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        """The mode."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        """Draw as a differentiable function of the parameters."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        """Return the entropy."""
        return self._dirichlet.entropy()

    @property
    def concentration1(self):
        """The weight of 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        """The weight of 0."""
        return self._dirichlet.concentration[..., 1]

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)
