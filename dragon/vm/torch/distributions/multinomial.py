"""The multinomial distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByClasses
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.binomial import Binomial
from dragon.vm.torch.distributions.categorical import Categorical
from dragon.vm.torch.distributions.utils import broadcast_all


class Multinomial(ByClasses, Distribution):
    """Counts of several classes among a number of trials.

    Parameters
    ----------
    total_count : int, optional, default=1
        How many trials.

    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _expands = ("total_count", "_categorical")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """The counts."""
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape=Size()):
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        order = list(range(drawn.dim()))
        order.append(order.pop(0))
        drawn = drawn.permute(*order)
        counts = drawn.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, drawn, torch.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self):
        n = torch.tensor(self.total_count)
        entropies = self._categorical.entropy()
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weights = torch.exp(self._binomial.log_prob(counts))
        ways = (weights * torch.lgamma(counts + 1)).sum([0, -1])
        return n * entropies - torch.lgamma(n + 1) + ways

    def log_prob(self, value):
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        logits[(value == 0) & (logits == -torch.inf)] = 0
        return torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)
