"""Gamma numbers of rate 1 as differentiable functions of their concentration.

A draw keeps its place in the distribution while the concentration changes: with F(x; a) the regularized incomplete
gamma function and f its density, dx/da = -(dF/da) / f (Figurnov, Mohamed and Mnih, "Implicit reparameterization
gradients", 2018). F = f x / a * sum of r_n, with r_0 = 1 and r_n = r_(n-1) x / (a + n), so the density cancels:
dx/da = -x / a * sum of r_n (log x - digamma(a + n + 1)).
"""
from dragon.vm import torch
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.core.tensor import ops

LARGE = 1000.0  # from here on a cube of a normal number is as good as the series, which grows as long as x is large
SPREAD = 12  # standard deviations beyond the concentration after which the series' terms are below float64's last bit


def _standard_gamma_grad(concentration, x):
    """Return dx/da for draws x of concentrations a."""
    a, x = concentration.double(), x.double().clamp(min=torch.finfo(torch.float64).tiny)
    small = a.clamp(max=LARGE)
    log_x, digamma = x.log(), torch.digamma(small + 1)
    ratio, total = torch.ones_like(x), log_x - digamma
    last = torch.maximum(small, x.clamp(max=4 * LARGE))
    for n in range(1, int((last + SPREAD * last.sqrt() + 60).max()) if x.numel() else 0):
        digamma = digamma + 1 / (small + n)
        ratio = ratio * x / (small + n)
        total = total + ratio * (log_x - digamma)
    series = -x / small * total
    # Wilson and Hilferty: (x / a)^(1/3) is normal with mean 1 - 1 / (9 a) and variance 1 / (9 a).
    root = (x / a).pow(1 / 3)
    z = (root - 1 + 1 / (9 * a)) * 3 * a.sqrt()
    cube = x / a + 3 * a * root.pow(2) * (1 / (9 * a.pow(2)) - z / (6 * a.pow(1.5)))
    return torch.where(a > LARGE, cube, series).to(concentration.dtype)


class StandardGamma(Function):
    """Draw, and remember where."""

    @staticmethod
    def forward(ctx, concentration):
        """Draw from gamma distributions of rate 1."""
        x = ops.standard_gamma(concentration)
        ctx.save_for_backward(concentration, x)
        return x

    @staticmethod
    def backward(ctx, dx):
        """Return the gradient by the concentration."""
        return dx * _standard_gamma_grad(*ctx.saved_tensors)


def _standard_gamma(concentration):
    """Draw from gamma distributions of rate 1, with gradients by the concentration."""
    return StandardGamma.apply(concentration)
