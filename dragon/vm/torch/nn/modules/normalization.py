"""Normalization over features and groups of channels."""
import numbers
from typing import List, Union

from dragon.vm.torch.core.size import Size
from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torch.nn.modules._functions import CrossMapLRN2d as _cross_map_lrn2d
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty, factory
from dragon.vm.torch.nn.parameter import Parameter


_shape_t = Union[int, List[int], Size]


class LocalResponseNorm(Applied, call="local_response_norm(input; size, alpha=1e-4, beta=0.75, k=1.0)"):
    """Normalize each element by those of neighbouring channels.

    Parameters
    ----------
    size : int
        How many channels.
    alpha, beta, k : float, optional, default=0.0001, 0.75, 1.0
        Factor, exponent and summand of the sum of squares.

    """

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm in its older form, whose window is cut at the ends."""

    __constants__ = []

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)

    def forward(self, input):
        """Return the input, normalized."""
        return _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)


class _Affine(Module):
    """The base of normalizations that scale and shift."""

    def _add_affine(self, weight, bias, shape, made):
        """Register weight and bias of a shape, or None for those that are not wanted."""
        for name, wanted in (("weight", weight), ("bias", bias)):
            self.register_parameter(name, Parameter(empty(*shape, **made)) if wanted else None)

    def reset_parameters(self):
        """Set the weight to one and the bias, where there is one, to zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


def _shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(_Affine):
    """Normalize over the last axes.

    Parameters
    ----------
    normalized_shape : Union[int, Sequence[int]]
        Sizes of these axes.
    eps : float, optional, default=1e-05
        Added to the variance.
    elementwise_affine : bool, optional, default=True
        Have weight and bias.
    bias : bool, optional, default=True
        Have a bias, if affine.

    Examples
    --------
    >>> layer = nn.LayerNorm(2)
    >>> layer(torch.tensor([[1.0, 3.0], [10.0, 30.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])

    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._add_affine(elementwise_affine, elementwise_affine and bias, self.normalized_shape, factory(device, dtype))
        self.reset_parameters()

    def forward(self, input):
        """Return the input, normalized."""
        params = self._parameters
        if "weight" in params and "bias" in params:
            return F.layer_norm(input, self.normalized_shape, params["weight"], params["bias"], self.eps)
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class GroupNorm(_Affine):
    """Normalize over groups of channels.

    Parameters
    ----------
    num_groups, num_channels : int
        How many groups and channels.
    eps, bias, device, dtype
        See LayerNorm.
    affine : bool, optional, default=True
        Have weight and bias.

    Examples
    --------
    >>> layer = nn.GroupNorm(2, 6)
    >>> layer(torch.zeros(8, 6, 4, 4)).shape
    torch.Size([8, 6, 4, 4])

    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_groups <= 0:
            raise ValueError("num_groups must be a positive integer")
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._add_affine(affine, affine and bias, (num_channels,), factory(device, dtype))
        self.reset_parameters()

    def forward(self, input):
        """Return the input, normalized."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(_Affine):
    """Divide by the root of the mean square over the last axes.

    Parameters
    ----------
    normalized_shape, device, dtype
        See LayerNorm.
    eps : float, optional
        Added to the mean square; the dtype's epsilon by default.
    elementwise_affine : bool, optional, default=True
        Have a weight.

    Examples
    --------
    >>> nn.RMSNorm(2, eps=0.0)(torch.tensor([[1.0, 7.0]])).detach()
    tensor([[0.2000, 1.4000]])

    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(empty(*self.normalized_shape, **factory(device, dtype))) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def forward(self, x):
        """Return the input, normalized."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
