"""The categorical distribution."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByParameter
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


class Categorical(ByParameter, Distribution):
    """One of several classes.

    Parameters
    ----------
    probs : Tensor, optional
        Weights along the last axis, which are normalized; or

    Examples
    --------
    >>> dice = torch.distributions.Categorical(probs=torch.tensor([1.0, 1.0, 2.0]))
    >>> dice.probs
    tensor([0.2500, 0.2500, 0.5000])
    >>> dice.log_prob(torch.tensor(2))
    tensor(-0.6931)

    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expands = ("probs", "logits", "_param", "_num_events")

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.probs if logits is None else self.logits
        self._num_events = self._param.size()[-1]
        shape = self._param.size()[:-1] if self._param.ndimension() > 1 else Size()
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """The classes."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        """Logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def mean(self):
        """NaN: classes have no mean."""
        return torch.full(self._extended_shape(), torch.nan, dtype=self.probs.dtype, device=self.probs.device)

    mode = property(lambda self: self.probs.argmax(dim=-1), doc="The likeliest class.")

    @property
    def variance(self):
        """NaN: classes have no variance."""
        return torch.full(self._extended_shape(), torch.nan, dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape=Size()):
        sample_shape = Size(sample_shape)
        drawn = torch.multinomial(self.probs.reshape(-1, self._num_events), sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._check_value(value)
        value, log_pmf = torch.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        """Return the classes along the first axis."""
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        return self._list(values, expand)
