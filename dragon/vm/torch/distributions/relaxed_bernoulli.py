"""Relaxed coins."""
from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import SigmoidTransform
from dragon.vm.torch.distributions.utils import (broadcast_all, clamp_probs, is_number, lazy_property,
                                                 logits_to_probs, probs_to_logits)


class LogitRelaxedBernoulli(Distribution):
    """Log-odds of relaxed coins.

    Parameters
    ----------
    temperature : Tensor
        How far from 0 and 1.
    probs : Union[float, Tensor], optional
        The probability of 1; or
    logits : Union[float, Tensor], optional
        its log-odds.

    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given, name = (logits, "logits") if probs is None else (probs, "probs")
        self._param, = broadcast_all(given)
        setattr(self, name, self._param)
        super().__init__(Size() if is_number(given) else self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        new = self._expand_parameters(LogitRelaxedBernoulli, batch_shape, (), _instance, present=("probs", "logits"))
        new.temperature = self.temperature
        new._param = new.__dict__.get("probs", new.__dict__.get("logits"))
        return new

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self):
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._param.size()

    def rsample(self, sample_shape=Size()):
        """Draw as a differentiable function of the parameters."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Relaxed coins: numbers between 0 and 1, with gradients.

    Parameters
    ----------
    temperature : Tensor
        How far from 0 and 1.
    probs : Union[float, Tensor], optional
        The probability of 1; or
    logits : Union[float, Tensor], optional
        its log-odds.

    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """Return the distribution with a larger batch shape."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self):
        """How far from 0 and 1."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """The log-odds."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probabilities."""
        return self.base_dist.probs
