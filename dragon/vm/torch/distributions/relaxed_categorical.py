"""Relaxed classes."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._parameters import ByClasses
from dragon.vm.torch.distributions.categorical import Categorical
from dragon.vm.torch.distributions.distribution import Distribution
from dragon.vm.torch.distributions.transformed_distribution import TransformedDistribution
from dragon.vm.torch.distributions.transforms import ExpTransform
from dragon.vm.torch.distributions.utils import broadcast_all, clamp_probs


class ExpRelaxedCategorical(ByClasses, Distribution):
    """Logarithms of relaxed classes.

    Parameters
    ----------
    temperature : Tensor
        How far from one-hot.

    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _expands = ("_categorical",)
    _keeps = ("temperature",)

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits + -((-(u.log())).log())) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        size = self._categorical._num_events
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        log_scale = (torch.full_like(self.temperature, float(size)).lgamma()
                     - self.temperature.log().mul(-(size - 1)))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Relaxed classes: points of the simplex, with gradients.

    Parameters
    ----------
    temperature : Tensor
        How far from one-hot.

    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _expands = ()

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"), doc="How far from one-hot.")
    logits = property(attrgetter("base_dist.logits"), doc="Logarithms of the probabilities.")
    probs = property(attrgetter("base_dist.probs"), doc="The probabilities.")
