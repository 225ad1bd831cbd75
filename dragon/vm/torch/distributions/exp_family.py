"""Distributions of the exponential family: their entropy follows from the log normalizer's gradient."""
from dragon.vm import torch
from dragon.vm.torch.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    """A density exp(<t(x), natural parameters> - log normalizer + carrier measure)."""

    @property
    def _natural_params(self):
        """The natural parameters."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        """Return the log normalizer of natural parameters."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        """The mean of the carrier measure."""
        raise NotImplementedError

    def entropy(self):
        # By Bregman's divergence of the log normalizer.
        result = -self._mean_carrier_measure
        parameters = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*parameters)
        gradients = torch.autograd.grad(log_normalizer.sum(), parameters, create_graph=True)
        result += log_normalizer
        for parameter, gradient in zip(parameters, gradients):
            result -= (parameter * gradient).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
