"""Relaxed coins."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByOdds, ByParameter
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import SigmoidTransform
from dragon.vm.torch.distributions.utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(ByOdds, ByParameter, Distribution):
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
    _expands = ("probs", "logits", "_param")
    _keeps = ("temperature",)

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        self._check_value(value)
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
    _expands = ()

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"), doc="How far from 0 and 1.")
    logits = property(attrgetter("base_dist.logits"), doc="The log-odds.")
    probs = property(attrgetter("base_dist.probs"), doc="The probabilities.")
