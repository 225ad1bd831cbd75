"""Pooling layers."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import _pair, _single, _triple


class _MaxPoolNd(Module):
    """What maximum pooling shares over any number of axes.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, ...]]
        Size of the window.
    stride : Union[int, Tuple[int, ...]], optional
        Its step, by default its size.
    padding : Union[int, Tuple[int, ...]], optional, default=0
        Minus infinities added on both sides.
    dilation : Union[int, Tuple[int, ...]], optional, default=1
        Step within the window.
    return_indices : bool, optional, default=False
        Return where the maxima are, too.
    ceil_mode : bool, optional, default=False
        Round output sizes up.

    """

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    return_indices: bool
    ceil_mode: bool

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pool(self, function, input):
        return function(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
                        return_indices=self.return_indices)

    def extra_repr(self):
        """Return the options as text."""
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPoolNd):
    """Take the maximum within a window over one axis."""

    def forward(self, input):
        """Return the maxima."""
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """Take the maximum within a window over two axes."""

    def forward(self, input):
        """Return the maxima."""
        return self._pool(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """Take the maximum within a window over three axes."""

    def forward(self, input):
        """Return the maxima."""
        return self._pool(F.max_pool3d, input)


class _MaxUnpoolNd(Module):
    """What undoing maximum pooling shares."""

    def _set(self, of, kernel_size, stride, padding):
        self.kernel_size = of(kernel_size)
        self.stride = of(stride if stride is not None else kernel_size)
        self.padding = of(padding)

    def _unpool(self, function, input, indices, output_size):
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        """Return the options as text."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Put maxima back where MaxPool1d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_single, kernel_size, stride, padding)

    def forward(self, input, indices, output_size=None):
        """Return the maxima at their places."""
        return self._unpool(F.max_unpool1d, input, indices, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Put maxima back where MaxPool2d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_pair, kernel_size, stride, padding)

    def forward(self, input, indices, output_size=None):
        """Return the maxima at their places."""
        return self._unpool(F.max_unpool2d, input, indices, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Put maxima back where MaxPool3d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_triple, kernel_size, stride, padding)

    def forward(self, input, indices, output_size=None):
        """Return the maxima at their places."""
        return self._unpool(F.max_unpool3d, input, indices, output_size)


class _AvgPoolNd(Module):
    """What average pooling shares.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, ...]]
        Size of the window.
    stride : Union[int, Tuple[int, ...]], optional
        Its step, by default its size.
    padding : Union[int, Tuple[int, ...]], optional, default=0
        Zeros added on both sides.
    ceil_mode : bool, optional, default=False
        Round output sizes up.
    count_include_pad : bool, optional, default=True
        Count the added zeros.
    divisor_override : int, optional
        Divide by this in place of the count; not over one axis.

    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self):
        """Return the options as text."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Take the mean within a window over one axis."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input):
        """Return the means."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """Take the mean within a window over two axes."""

    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        """Return the means."""
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class AvgPool3d(_AvgPoolNd):
    """Take the mean within a window over three axes."""

    __constants__ = AvgPool2d.__constants__

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        """Return the means."""
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)

    def __setstate__(self, d):
        super().__setstate__(d)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _FractionalMaxPoolNd(Module):
    """What pooling to a fraction of the size shares."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def _set(self, of, kernel_size, output_size, output_ratio, return_indices, samples):
        self.kernel_size = of(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", samples)
        self.output_size = of(output_size) if output_size is not None else None
        self.output_ratio = of(output_ratio) if output_ratio is not None else None
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio, and not both")
        if output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {output_ratio})")

    def _pool(self, function, input):
        return function(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                        _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Take the maximum within windows at random places, as many as the output has elements.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, int]]
        Size of the window.
    output_size : Union[int, Tuple[int, int]], optional
        Size of the output.
    output_ratio : Union[float, Tuple[float, float]], optional
        The same as a share of the input's.
    return_indices : bool, optional, default=False
        Return where the maxima are, too.

    """

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self._set(_pair, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input):
        """Return the maxima."""
        return self._pool(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """FractionalMaxPool2d over three axes."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self._set(_triple, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input):
        """Return the maxima."""
        return self._pool(F.fractional_max_pool3d, input)


class _LPPoolNd(Module):
    """What power-average pooling shares.

    Parameters
    ----------
    norm_type : float
        The norm's exponent.
    kernel_size : Union[int, Tuple[int, ...]]
        Size of the window.
    stride : Union[int, Tuple[int, ...]], optional
        Its step, by default its size.
    ceil_mode : bool, optional, default=False
        Round output sizes up.

    """

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def _pool(self, function, input):
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        """Return the options as text."""
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPoolNd):
    """Take a norm within a window over one axis."""

    def forward(self, input):
        """Return the norms."""
        return self._pool(F.lp_pool1d, input)


class LPPool2d(_LPPoolNd):
    """Take a norm within a window over two axes."""

    def forward(self, input):
        """Return the norms."""
        return self._pool(F.lp_pool2d, input)


class LPPool3d(_LPPoolNd):
    """Take a norm within a window over three axes."""

    def forward(self, input):
        """Return the norms."""
        return self._pool(F.lp_pool3d, input)


class _AdaptiveMaxPoolNd(Module):
    """What maximum pooling to a given size shares."""

    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self):
        """Return the size as text."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Take maxima so that one axis gets a given size."""

    def forward(self, input):
        """Return the maxima."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Take maxima so that two axes get given sizes."""

    def forward(self, input):
        """Return the maxima."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Take maxima so that three axes get given sizes."""

    def forward(self, input):
        """Return the maxima."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    """What average pooling to a given size shares."""

    __constants__ = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def extra_repr(self):
        """Return the size as text."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Take means so that one axis gets a given size."""

    def forward(self, input):
        """Return the means."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Take means so that two axes get given sizes."""

    def forward(self, input):
        """Return the means."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Take means so that three axes get given sizes."""

    def forward(self, input):
        """Return the means."""
        return F.adaptive_avg_pool3d(input, self.output_size)
