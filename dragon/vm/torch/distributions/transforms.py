"""Invertible maps between distributions' values, with the logarithms of their Jacobians' determinants."""
import math
from operator import attrgetter

from dragon.vm import torch
from dragon.vm.guest import lookup
from dragon.vm.torch.distributions import constraints
from dragon.vm.torch.distributions._matrix_transforms import (  # noqa: F401: shown here
    CatTransform, CorrCholeskyTransform, CumulativeDistributionTransform, LowerCholeskyTransform,
    PositiveDefiniteTransform, SoftmaxTransform, StackTransform, StickBreakingTransform)
from dragon.vm.torch.distributions._transform import (  # noqa: F401: shown here
    ComposeTransform, IndependentTransform, Transform, _InverseTransform, _OneOfAKind, identity_transform)
from dragon.vm.torch.distributions.utils import broadcast_all, lazy_property
from dragon.vm.torch.nn import functional


class ReshapeTransform(Transform):
    """The same numbers in another shape of one value."""

    bijective = True
    _made_of = ("in_shape", "out_shape")

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        """The arguments."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        """The values."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x):
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        """Return zeros."""
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape):
        return self._swap(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._swap(shape, self.out_shape, self.in_shape)

    @staticmethod
    def _swap(shape, old, new):
        if len(shape) < len(old):
            raise ValueError("Too few dimensions on input")
        cut = len(shape) - len(old)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return shape[:cut] + new


class _Simple(_OneOfAKind):
    """One to one, increasing, without parameters."""

    bijective = True
    sign = +1


class ExpTransform(_Simple):
    """y = exp(x)."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        """Return x."""
        return x


class PowerTransform(Transform):
    """y = x ** exponent."""

    domain = codomain = constraints.positive
    bijective = True
    _made_of = ("exponent",)

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.exponent, = broadcast_all(exponent)

    @lazy_property
    def sign(self):
        """The sign of the exponent."""
        return self.exponent.sign()

    def _equals(self, other):
        return isinstance(other, PowerTransform) and self.exponent.eq(other.exponent).all().item()

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        """Return log |exponent * y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return torch.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape


class SigmoidTransform(_Simple):
    """y = 1 / (1 + exp(-x))."""

    domain, codomain = constraints.real, constraints.unit_interval

    def _call(self, x):
        finfo = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=finfo.tiny, max=1.0 - finfo.eps)

    def _inverse(self, y):
        finfo = torch.finfo(y.dtype)
        y = y.clamp(min=finfo.tiny, max=1.0 - finfo.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        """Return the logarithm of y (1 - y)."""
        return -functional.softplus(-x) - functional.softplus(x)


class SoftplusTransform(_Simple):
    """y = log(1 + exp(x))."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        """Return the logarithm of the sigmoid."""
        return -functional.softplus(-x)


class TanhTransform(_Simple):
    """y = tanh(x)."""

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        """Return log(1 - y**2), in a form that keeps its digits."""
        return 2.0 * (math.log(2.0) - x - functional.softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|."""

    domain, codomain = constraints.real, constraints.positive

    def _equals(self, other):
        return isinstance(other, AbsTransform)

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """y = loc + scale * x."""

    bijective = True
    _made_of = ("loc", "scale", "event_dim")

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(attrgetter("_event_dim"), doc="How many axes make one value.")

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        """The arguments, and the values."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def _equals(self, other):
        if not isinstance(other, AffineTransform):
            return False
        same = True
        for mine, theirs in ((self.loc, other.loc), (self.scale, other.scale)):
            equal = mine == theirs
            same = same and (equal.all().item() if isinstance(equal, torch.Tensor) else equal)
        return same

    @property
    def sign(self):
        """The sign of the scale."""
        if isinstance(self.scale, torch.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        """Return log |scale|, summed over the axes of one value."""
        if isinstance(self.scale, torch.Tensor):
            result = torch.abs(self.scale).log()
        else:
            result = torch.full_like(x, math.log(abs(self.scale)))
        shape = x.shape
        if self.event_dim:
            result = result.view(result.size()[:-self.event_dim] + (-1,)).sum(-1)
            shape = shape[:-self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape):
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "__all__":  # libraries that add to these show all of them as their own
        return [known for known in globals() if not known.startswith("_") and known.lower().endswith("transform")]
    return _find(name)
