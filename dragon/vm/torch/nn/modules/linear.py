"""Layers that multiply by a matrix."""
import math

from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules.lazy import LazyModuleMixin
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty, factory
from dragon.vm.torch.nn.parameter import Parameter, UninitializedParameter


class Identity(Module):
    """Return what comes in; takes any arguments.

    Parameters
    ----------
    *args, **kwargs : Any
        Accepted, so that it can stand for any layer.

    Examples
    --------
    >>> nn.Identity()(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])

    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """Return the input."""
        return input


class Linear(Module):
    """Apply `y = x W^T + b` over the last axis: `(..., in_features)` becomes `(..., out_features)`.

    Parameters
    ----------
    in_features : int
        Size of the last axis of the input.
    out_features : int
        Size of the last axis of the output.
    bias : bool, optional, default=True
        Add a bias.

    Examples
    --------
    >>> layer = nn.Linear(3, 2)
    >>> layer(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    >>> layer.weight.shape, layer.bias.shape
    (torch.Size([2, 3]), torch.Size([2]))

    """

    __constants__ = ["in_features", "out_features"]

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        made = factory(device, dtype)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in_features, **made))
        self.register_parameter("bias", Parameter(empty(out_features, **made)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw new parameters, uniform within one over the root of `in_features`."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        """Return `x W^T + b`."""
        # Looking the parameters up here costs a fifth of finding them through `__getattr__`.
        params = self._parameters
        if "weight" in params and "bias" in params:
            return F.linear(input, params["weight"], params["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        """Return the sizes as text."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection of attention: a Linear under a name of its own."""


class Bilinear(Module):
    """Apply `y = x1^T A x2 + b`.

    Parameters
    ----------
    in1_features, in2_features : int
        Sizes of the last axes of the inputs.
    out_features, bias, device, dtype
        See Linear.

    """

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        made = factory(device, dtype)
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, **made))
        self.register_parameter("bias", Parameter(empty(out_features, **made)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw new parameters, uniform within one over the root of `in1_features`."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        """Return the bilinear form of two inputs."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        """Return the sizes as text."""
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes `in_features` from its first input; see Linear for the parameters."""

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        made = factory(device, dtype)
        super().__init__(0, 0, False, **made)
        self.weight = UninitializedParameter(**made)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(**made)

    def reset_parameters(self):
        """Draw new parameters if they have a shape."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Give the parameters their shapes."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]
