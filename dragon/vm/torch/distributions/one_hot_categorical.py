"""The one-hot categorical distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.categorical import Categorical


class OneHotCategorical(Distribution):
    """One of several classes, as a vector with a single 1.

    Parameters
    ----------
    probs : Tensor, optional
        Weights along the last axis; or
    logits : Tensor, optional
        their logarithms.

    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._get_checked_instance(OneHotCategorical, _instance)
        batch_shape = Size(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        super(OneHotCategorical, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self):
        return self._categorical._param

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self):
        """The mean."""
        return self._categorical.probs

    @property
    def mode(self):
        """The likeliest class."""
        return torch.nn.functional.one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self):
        """The variance."""
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape=Size()):
        """Draw, without gradients."""
        indices = self._categorical.sample(Size(sample_shape))
        return torch.nn.functional.one_hot(indices, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value):
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        """Return the entropy."""
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        """Return all classes along the first axis."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot draws whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=Size()):
        """Draw; the gradient goes straight through to the probabilities."""
        drawn = self.sample(sample_shape)
        return drawn + (self._categorical.probs - self._categorical.probs.detach())
