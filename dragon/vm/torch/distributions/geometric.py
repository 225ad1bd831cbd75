"""The geometric distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByOdds
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import broadcast_all
from dragon.vm.torch.nn.functional import binary_cross_entropy_with_logits


class Geometric(ByOdds, Distribution):
    """Failures before the first success.

    Parameters
    ----------
    probs : Union[float, Tensor], optional
        The probability of success; or
    logits : Union[float, Tensor], optional
        its log-odds.

    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _expands = ("probs", "logits", "_param")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(f"Expected parameter probs of distribution {self!r} to be positive, but found invalid "
                             f"values:\n{self.probs}")

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    mode = property(lambda self: torch.zeros_like(self.probs), doc="Zero.")

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=Size()):
        shape, tiny = self._extended_shape(sample_shape), torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new(shape).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        self._check_value(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
