"""Convolutions and transposed convolutions over one, two and three axes, and those that learn their channels."""
import math

from dragon.core import warnings
from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules.lazy import LazyModuleMixin
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import (_ntuple, _pair, _reverse_repeat_tuple, _single, _triple, empty, factory)
from dragon.vm.torch.nn.parameter import Parameter, UninitializedParameter

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """The base of all convolutions; sizes are tuples, one number per axis.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of the input and the output.
    kernel_size : Union[int, Tuple[int, ...]]
        Size of the window.
    stride : Union[int, Tuple[int, ...]], optional, default=1
        Step of the window.
    padding : Union[int, Tuple[int, ...], {"same", "valid"}], optional, default=0
        Added on both sides.
    dilation : Union[int, Tuple[int, ...]], optional, default=1
        Step within the window.
    groups : int, optional, default=1
        Into how many independent groups the channels fall.
    bias : bool, optional, default=True
        Add a bias.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}, optional
        With what to pad.

    """

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
                     "out_channels", "kernel_size"]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups, bias, padding_mode, device=None, dtype=None):
        made = factory(device, dtype)
        super().__init__()
        _check_arguments(in_channels, out_channels, padding, stride, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _pad_amounts(padding, kernel_size, dilation)
        channels = ((in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups))
        self.weight = Parameter(empty(*channels, *kernel_size, **made))
        self.register_parameter("bias", Parameter(empty(out_channels, **made)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw new parameters, uniform within one over the root of the inputs of an output."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _own(self):
        """Return weight and bias, without the detour of `__getattr__` where they are plain parameters."""
        params = self._parameters
        if "weight" in params and "bias" in params:
            return params["weight"], params["bias"]
        return self.weight, self.bias

    def forward(self, input):
        """Return the convolution of the input."""
        return self._conv_forward(input, *self._own())

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode == "zeros":
            return self._function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return self._function(padded, weight, bias, self.stride, (0,) * len(self.kernel_size), self.dilation,
                              self.groups)

    def extra_repr(self):
        """Return sizes and what differs from the defaults as text."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        axes = len(self.kernel_size)
        for name, usual in (("padding", (0,) * axes), ("dilation", (1,) * axes), ("output_padding", (0,) * axes),
                            ("groups", 1)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check_arguments(in_channels, out_channels, padding, stride, groups, padding_mode):
    """Raise for what no convolution can be made of."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {{{str(PADDING_MODES)[1:-1]}}}, but got "
                         f"padding_mode={padding_mode!r}")


def _pad_amounts(padding, kernel_size, dilation):
    """Return the amounts for `pad`: before and after each axis, the last axis first."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    amounts = [0, 0] * len(kernel_size)
    if padding == "same":
        for place, (size, step) in enumerate(zip(reversed(kernel_size), reversed(dilation))):
            total = step * (size - 1)
            amounts[2 * place:2 * place + 2] = total // 2, total - total // 2
    return amounts


def _sizes(of, padding, *others):
    """Return sizes as tuples; a padding may be a word."""
    return [padding if isinstance(padding, str) else of(padding), *map(of, others)]


class Conv1d(_ConvNd):
    """Convolve over one axis: input `(N, C, L)` or `(C, L)`. ...

    Examples
    --------
    >>> layer = nn.Conv1d(4, 8, kernel_size=3, padding=1)
    >>> layer(torch.zeros(2, 4, 100)).shape
    torch.Size([2, 8, 100])

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        padding, kernel_size, stride, dilation = _sizes(_single, padding, kernel_size, stride, dilation)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, _single(0), groups,
                         bias, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv1d(*args)


class Conv2d(_ConvNd):
    """Convolve over two axes: input `(N, C, H, W)` or `(C, H, W)`. ...

    Examples
    --------
    >>> layer = nn.Conv2d(3, 16, kernel_size=3, stride=2, padding=1)
    >>> layer(torch.zeros(8, 3, 32, 32)).shape
    torch.Size([8, 16, 16, 16])
    >>> layer.weight.shape
    torch.Size([16, 3, 3, 3])

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        padding, kernel_size, stride, dilation = _sizes(_pair, padding, kernel_size, stride, dilation)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, _pair(0), groups,
                         bias, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv2d(*args)


class Conv3d(_ConvNd):
    """Convolve over three axes: input `(N, C, D, H, W)` or `(C, D, H, W)`. ...

    Examples
    --------
    >>> nn.Conv3d(1, 2, kernel_size=3)(torch.zeros(1, 1, 8, 8, 8)).shape
    torch.Size([1, 2, 6, 6, 6])

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        padding, kernel_size, stride, dilation = _sizes(_triple, padding, kernel_size, stride, dilation)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, False, _triple(0), groups,
                         bias, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv3d(*args)


class _ConvTransposeNd(_ConvNd):
    """The base of all transposed convolutions.

    Parameters
    ----------
    stride : Union[int, Tuple[int, ...]], optional, default=1
        Step of the window in the output.
    padding : Union[int, Tuple[int, ...]], optional, default=0
        Taken away on both sides of the output.
    output_padding : Union[int, Tuple[int, ...]], optional, default=0
        Added to one side of the output.
    padding_mode : {"zeros"}, optional
        Only zeros.

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups, bias, padding_mode, device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def _init_sized(self, of, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias,
                    dilation, padding_mode, device, dtype):
        _ConvTransposeNd.__init__(self, in_channels, out_channels, of(kernel_size), of(stride), of(padding),
                                  of(dilation), True, of(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        """Return the transposed convolution; `output_size` picks one of the sizes that the stride leaves open."""
        axes = len(self.kernel_size)
        output_padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, axes,
                                              self.dilation)
        return self._function(input, *self._own(), self.stride, self.padding, output_padding, self.groups,
                              self.dilation)

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        if output_size is None:
            return _ntuple(num_spatial_dims)(self.output_padding)
        batched = input.dim() == num_spatial_dims + 2
        leading = 2 if batched else 1
        if len(output_size) == leading + num_spatial_dims:
            output_size = output_size[leading:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(f"{type(self).__name__}: got an output_size of {len(output_size)} elements for an input "
                             f"of {input.dim()} axes, expected {num_spatial_dims} or {leading + num_spatial_dims}")
        dilation = (1,) * num_spatial_dims if dilation is None else dilation
        smallest = [(size - 1) * step - 2 * pad + reach * (window - 1) + 1 for size, step, pad, reach, window in
                    zip(input.shape[leading:], stride, padding, dilation, kernel_size)]
        largest = [size + step - 1 for size, step in zip(smallest, stride)]
        if any(not low <= size <= high for size, low, high in zip(output_size, smallest, largest)):
            raise ValueError(f"{type(self).__name__}: requested an output size of {output_size}, but valid sizes "
                             f"range from {smallest} to {largest} (for an input of {input.shape[leading:]})")
        return [size - low for size, low in zip(output_size, smallest)]


class _ConvTransposeMixin(_ConvTransposeNd):
    """The old name of `_ConvTransposeNd`."""

    def __init__(self, *args, **kwargs):
        warnings.warn("_ConvTransposeMixin is a deprecated internal class. Please consider using public APIs.",
                      FutureWarning)
        super().__init__(*args, **kwargs)


class ConvTranspose1d(_ConvTransposeNd):
    """Convolve backwards over one axis, as the gradient of Conv1d does. ..."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        self._init_sized(_single, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias,
                         dilation, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv_transpose1d(*args)


class ConvTranspose2d(_ConvTransposeNd):
    """Convolve backwards over two axes: input `(N, C, H, W)` or `(C, H, W)`. ...

    Examples
    --------
    >>> layer = nn.ConvTranspose2d(16, 3, kernel_size=4, stride=2, padding=1)
    >>> layer(torch.zeros(8, 16, 16, 16)).shape
    torch.Size([8, 3, 32, 32])

    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        self._init_sized(_pair, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias,
                         dilation, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv_transpose2d(*args)


class ConvTranspose3d(_ConvTransposeNd):
    """Convolve backwards over three axes: input `(N, C, D, H, W)` or `(C, D, H, W)`. ..."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        self._init_sized(_triple, in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias,
                         dilation, padding_mode, device, dtype)

    def _function(self, *args):
        return F.conv_transpose3d(*args)


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution that takes `in_channels` from its first input."""

    def _init_lazily(self, out_channels, bias, device, dtype, *args, **kwargs):
        """Set up without parameters, then with such that have no shape."""
        super().__init__(0, 0, *args, bias=False, device=device, dtype=dtype, **kwargs)
        made = factory(device, dtype)
        self.weight = UninitializedParameter(**made)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**made)

    def reset_parameters(self):
        """Draw new parameters if they have a shape."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Give the parameters their shapes."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        channels = ((self.in_channels, self.out_channels // self.groups) if self.transposed
                    else (self.out_channels, self.in_channels // self.groups))
        self.weight.materialize((*channels, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input):
        axes = self._get_num_spatial_dims()
        if input.dim() not in (axes + 1, axes + 2):
            raise RuntimeError(f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {input.shape}")
        return input.shape[1] if input.dim() == axes + 2 else input.shape[0]

    def _get_num_spatial_dims(self):
        return len(self.kernel_size)


def _lazy_conv(base):
    """Return the lazy class of a convolution."""
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        self._init_lazily(out_channels, bias, device, dtype, kernel_size, stride, padding, dilation, groups,
                          padding_mode=padding_mode)
    return _make_lazy(base, __init__)


def _lazy_transpose(base):
    """Return the lazy class of a transposed convolution."""
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        self._init_lazily(out_channels, bias, device, dtype, kernel_size, stride, padding, output_padding, groups,
                          dilation=dilation, padding_mode=padding_mode)
    return _make_lazy(base, __init__)


def _make_lazy(base, constructor):
    body = {"__init__": constructor, "cls_to_become": base, "__module__": __name__,
            "__doc__": f"A {base.__name__} that takes `in_channels` from its first input."}
    return type("Lazy" + base.__name__, (_LazyConvXdMixin, base), body)


LazyConv1d, LazyConv2d, LazyConv3d = map(_lazy_conv, (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy_transpose, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
