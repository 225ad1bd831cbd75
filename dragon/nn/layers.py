"""The layers themselves: each a few parameters around one operator."""
import math

from dragon.nn.module import Module, Parameter
from dragon import random
from dragon.tensor import ops


def spread(fan_in):
    """Return the bound of the uniform distribution that keeps a signal's size (PyTorch's default for layers)."""
    return 1 / math.sqrt(fan_in) if fan_in else 0.0


class Linear(Module):
    """Compute `x @ weight.T + bias`.

    Parameters
    ----------
    in_features : int
        Size of the last axis of `x`.
    out_features : int
        Size of the last axis of the result.
    bias : bool, optional, default=True
        Whether to add one.

    Examples
    --------
    >>> nn.Linear(3, 2)(dragon.zeros((5, 3))).shape
    (5, 2)

    """

    def __init__(self, in_features, out_features, bias=True):
        bound = spread(in_features)
        self.weight = Parameter(random.uniform(-bound, bound, (out_features, in_features)))
        self.bias = Parameter(random.uniform(-bound, bound, (out_features,))) if bias else None

    def forward(self, x):
        """Return the product."""
        return ops.linear(x, self.weight, self.bias)

    def describe(self):
        """Return the sizes."""
        return f"{self.weight.shape[1]}, {self.weight.shape[0]}, bias={self.bias is not None}"


class Conv2d(Module):
    """Convolve pictures of shape (batch, channels, height, width).

    Parameters
    ----------
    in_channels : int
        Channels of the input.
    out_channels : int
        Channels of the result.
    kernel_size : Union[int, Sequence[int]]
        Size of the window.
    stride : Union[int, Sequence[int]], optional, default=1
        Step of the window.
    padding : Union[int, Sequence[int]], optional, default=0
        Zeros around the picture.
    dilation : Union[int, Sequence[int]], optional, default=1
        Distance between the window's elements.
    groups : int, optional, default=1
        How many groups of channels are convolved apart.
    bias : bool, optional, default=True
        Whether to add one.

    Examples
    --------
    >>> nn.Conv2d(3, 16, 3, stride=2, padding=1)(dragon.zeros((8, 3, 32, 32))).shape
    (8, 16, 16, 16)

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        def pair(value):
            return (value, value) if isinstance(value, int) else tuple(value)
        self.stride, self.padding, self.dilation, self.groups = pair(stride), pair(padding), pair(dilation), groups
        window = pair(kernel_size)
        if groups < 1:
            raise ValueError(f"Conv2d: got groups={groups}, expected at least 1")
        bound = spread(in_channels // groups * window[0] * window[1])
        self.weight = Parameter(random.uniform(-bound, bound, (out_channels, in_channels // groups) + window))
        self.bias = Parameter(random.uniform(-bound, bound, (out_channels,))) if bias else None

    def forward(self, x):
        """Return the convolution."""
        return ops.conv(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Embedding(Module):
    """Look rows up in a table.

    Parameters
    ----------
    count : int
        Rows of the table.
    size : int
        Numbers in a row.

    """

    def __init__(self, count, size):

        self.weight = Parameter(random.normal(0.0, 1.0, (count, size)))

    def forward(self, index):
        """Return the rows at integers of any shape."""
        return ops.embedding(index, self.weight)


class LayerNorm(Module):
    """Normalise over the last axes.

    Parameters
    ----------
    shape : Union[int, Sequence[int]]
        Their sizes.
    eps : float, optional, default=1e-5
        Added to the variance.

    """

    def __init__(self, shape, eps=1e-5):
        self.shape, self.eps = (shape,) if isinstance(shape, int) else tuple(shape), eps
        self.weight = Parameter(ops.full(self.shape, 1.0))
        self.bias = Parameter(ops.full(self.shape, 0.0))

    def forward(self, x):
        """Return the normalised numbers."""
        return ops.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class Dropout(Module):
    """Set a share of the numbers to zero while training, and scale the others up.

    Parameters
    ----------
    p : float, optional, default=0.5
        The share.

    """

    def __init__(self, p=0.5):
        self.p = p

    def forward(self, x):
        """Return what is left."""
        return ops.dropout(x, self.p, self.training)


class Flatten(Module):
    """Merge all axes from `start_axis` on."""

    def __init__(self, start_axis=1):
        self.start_axis = start_axis

    def forward(self, x):
        """Return the merged tensor."""
        return ops.flatten(x, self.start_axis)


class ReLU(Module):
    """Return max(x, 0)."""

    def forward(self, x):
        """Return the larger of each number and zero."""
        return ops.relu(x)


class GELU(Module):
    """Return x times the share of a normal distribution below x."""

    def forward(self, x):
        """Return the gated numbers."""
        return ops.gelu(x)


class Tanh(Module):
    """Return tanh(x)."""

    def forward(self, x):
        """Return the hyperbolic tangent."""
        return ops.tanh(x)


class Sigmoid(Module):
    """Return 1 / (1 + exp(-x))."""

    def forward(self, x):
        """Return the logistic function."""
        return ops.sigmoid(x)


class Sequential(Module):
    """Call modules one after the other.

    Parameters
    ----------
    *layers : Module
        The modules.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
    >>> model(dragon.zeros((3, 4))).shape
    (3, 2)

    """

    def __init__(self, *layers):
        for index, layer in enumerate(layers):
            setattr(self, str(index), layer)

    def forward(self, x):
        """Return what the last one returns."""
        for layer in self:
            x = layer(x)
        return x

    def __iter__(self):
        return (child for _, child in self.named_children())

    def __len__(self):
        return sum(1 for _ in self)

    def __getitem__(self, index):
        return list(self)[index]
