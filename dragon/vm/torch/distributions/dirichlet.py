"""The Dirichlet distribution."""
from dragon.vm import torch
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._gamma import _standard_gamma_grad
from dragon.vm.torch.distributions.exp_family import ExponentialFamily


class _Dirichlet(Function):
    """Gamma numbers divided by their sum, with the gradient along that path."""

    @staticmethod
    def forward(ctx, concentration):
        """Draw as `torch._sample_dirichlet` does, and keep the gamma numbers."""
        parts = ops.standard_gamma(concentration.double())
        finfo = torch.finfo(concentration.dtype)
        x = (parts / parts.sum(-1, True)).clamp(finfo.tiny, 1 - finfo.eps / 2).to(concentration.dtype)
        ctx.save_for_backward(concentration, parts, x)
        return x

    @staticmethod
    def backward(ctx, dx):
        """Return the gradient by the concentration."""
        concentration, parts, x = ctx.saved_tensors
        slopes = _standard_gamma_grad(concentration, parts) / parts.sum(-1, True).to(concentration.dtype)
        return slopes * (dx - (dx * x).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Probabilities over probabilities.

    Parameters
    ----------
    concentration : Tensor
        Weights along the last axis.

    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expands = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()):
        concentration = self.concentration.expand(self._extended_shape(sample_shape))
        if concentration.requires_grad and torch.is_grad_enabled():
            return _Dirichlet.apply(concentration)
        return torch._sample_dirichlet(concentration)

    def log_prob(self, value):
        self._check_value(value)
        return (torch.xlogy(self.concentration - 1.0, value).sum(-1) + torch.lgamma(self.concentration.sum(-1))
                - torch.lgamma(self.concentration).sum(-1))

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        weights = (self.concentration - 1).clamp(min=0.0)
        mode = weights / weights.sum(-1, True)
        scattered = (self.concentration < 1).all(dim=-1)
        largest = torch.nn.functional.one_hot(mode[scattered].argmax(dim=-1), weights.shape[-1]).to(mode)
        mode[scattered] = largest
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        k, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (torch.lgamma(self.concentration).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total)
                - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1))

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
