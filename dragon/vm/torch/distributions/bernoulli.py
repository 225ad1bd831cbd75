"""The Bernoulli distribution."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByOdds, ByParameter
from dragon.vm.torch.distributions.exp_family import ExponentialFamily
from dragon.vm.torch.distributions.utils import broadcast_all
from dragon.vm.torch.nn.functional import binary_cross_entropy_with_logits


class Bernoulli(ByOdds, ByParameter, ExponentialFamily):
    """A coin: 1 with probability `probs`.

    Parameters
    ----------
    probs : Union[float, Tensor], optional
        Probabilities of 1; or
    logits : Union[float, Tensor], optional
        their log-odds.

    Examples
    --------
    >>> coin = torch.distributions.Bernoulli(torch.tensor(0.5))
    >>> coin.mean, coin.variance
    (tensor(0.5000), tensor(0.2500))

    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expands = ("probs", "logits", "_param")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    mean = property(attrgetter("probs"), doc="The mean.")

    @property
    def mode(self):
        """The likelier side; NaN for a fair coin."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = torch.nan
        return mode

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=Size()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        """Return 0 and 1 along the first axis."""
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._list(values, expand)

    @property
    def _natural_params(self):
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x):
        return torch.log1p(torch.exp(x))
