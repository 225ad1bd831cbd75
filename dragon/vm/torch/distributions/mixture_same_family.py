"""Mixtures of distributions of one family."""
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions.categorical import Categorical
from dragon.vm.torch.distributions.constraints import MixtureSameFamilyConstraint
from dragon.vm.torch.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """One of several components of a family, chosen at random.

    Parameters
    ----------
    mixture_distribution : Categorical
        Which component.
    component_distribution : Distribution
        The components, along the last batch axis.

    """

    arg_constraints = {}
    has_rsample = False
    _expands = ("_component_distribution", "_mixture_distribution", "_num_component", "_event_ndims")

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        mine, theirs = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for a, b in zip(reversed(mine), reversed(theirs)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"`mixture_distribution.batch_shape` ({mine}) is not compatible with "
                                 f"`component_distribution.batch_shape`({theirs})")
        km, kc = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if km is not None and kc is not None and km != kc:
            raise ValueError(f"`mixture_distribution component` ({km}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({kc})")
        self._num_component = km
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(theirs, component_distribution.event_shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self):
        """The components' support."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = property(attrgetter("_mixture_distribution"), doc="Which component.")
    component_distribution = property(attrgetter("_component_distribution"), doc="The components.")

    @property
    def mean(self):
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self):
        """The variance: within and between components."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        axis = -1 - self._event_ndims
        within = torch.sum(probs * self.component_distribution.variance, dim=axis)
        between = torch.sum(probs * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0), dim=axis)
        return within + between

    def cdf(self, x):
        return torch.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        self._check_value(x)
        inside = self.component_distribution.log_prob(self._pad(x))
        return torch.logsumexp(inside + torch.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape=Size()):
        with torch.no_grad():
            count, batch = len(sample_shape), len(self.batch_shape)
            axis, event = count + batch, self.event_shape
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            shape = chosen.shape
            places = chosen.reshape(shape + Size([1] * (len(event) + 1)))
            places = places.repeat(Size([1] * len(shape)) + Size([1]) + event)
            return torch.gather(drawn, axis, places).squeeze(axis)

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x):
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        shape = x.shape
        return x.reshape(shape[:-1] + Size(missing * [1]) + shape[-1:] + Size(self._event_ndims * [1]))

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
