"""Pooling layers."""
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torch.nn.modules.utils import _pair, _single, _triple


class _MaxPoolNd(Applied):
    """The base of maximum pooling over any number of axes.

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

    __constants__ = _options = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _shown = ["kernel_size", "stride", "padding", "dilation", "ceil_mode"]
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


class MaxPool1d(_MaxPoolNd, call="max_pool1d(input)"):
    """Take the maximum within a window over one axis."""


class MaxPool2d(_MaxPoolNd, call="max_pool2d(input)"):
    """Take the maximum within a window over two axes."""


class MaxPool3d(_MaxPoolNd, call="max_pool3d(input)"):
    """Take the maximum within a window over three axes."""


class _MaxUnpoolNd(Applied):
    """The base of what undoes maximum pooling."""

    _options = ["kernel_size", "stride", "padding"]

    def _set(self, of, kernel_size, stride, padding):
        self.kernel_size = of(kernel_size)
        self.stride = of(stride if stride is not None else kernel_size)
        self.padding = of(padding)


class MaxUnpool1d(_MaxUnpoolNd, call="max_unpool1d(input, indices, output_size=None)"):
    """Put maxima back where MaxPool1d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_single, kernel_size, stride, padding)


class MaxUnpool2d(_MaxUnpoolNd, call="max_unpool2d(input, indices, output_size=None)"):
    """Put maxima back where MaxPool2d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_pair, kernel_size, stride, padding)


class MaxUnpool3d(_MaxUnpoolNd, call="max_unpool3d(input, indices, output_size=None)"):
    """Put maxima back where MaxPool3d found them, zeros elsewhere."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self._set(_triple, kernel_size, stride, padding)


class _AvgPoolNd(Applied):
    """The base of average pooling.

    Parameters
    ----------
    kernel_size, stride, ceil_mode
        See `_MaxPoolNd`.
    padding : Union[int, Tuple[int, ...]], optional, default=0
        Zeros added on both sides.
    count_include_pad : bool, optional, default=True
        Count the added zeros.
    divisor_override : int, optional
        Divide by this in place of the count; not over one axis.

    """

    __constants__ = _options = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    _shown = ["kernel_size", "stride", "padding"]

    def _set(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad


class AvgPool1d(_AvgPoolNd, call="avg_pool1d(input)"):
    """Take the mean within a window over one axis."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        stride = kernel_size if stride is None else stride
        self._set(_single(kernel_size), _single(stride), _single(padding), ceil_mode, count_include_pad)


class AvgPool2d(_AvgPoolNd, call="avg_pool2d(input)"):
    """Take the mean within a window over two axes."""

    __constants__ = _options = [*_AvgPoolNd.__constants__, "divisor_override"]

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self._set(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override


class AvgPool3d(_AvgPoolNd, call="avg_pool3d(input)"):
    """Take the mean within a window over three axes."""

    __constants__ = _options = AvgPool2d.__constants__

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self._set(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def __setstate__(self, d):
        super().__setstate__(d)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _FractionalMaxPoolNd(Applied):
    """The base of pooling to a fraction of the size."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _options = ["kernel_size", "output_size", "output_ratio", "return_indices", "_random_samples"]
    _shown = ()

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


class FractionalMaxPool2d(_FractionalMaxPoolNd, call="fractional_max_pool2d(input)"):
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


class FractionalMaxPool3d(_FractionalMaxPoolNd, call="fractional_max_pool3d(input)"):
    """FractionalMaxPool2d over three axes."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self._set(_triple, kernel_size, output_size, output_ratio, return_indices, _random_samples)


class _LPPoolNd(Applied):
    """The base of power-average pooling.

    Parameters
    ----------
    norm_type : float
        The norm's exponent.
    kernel_size, stride, ceil_mode
        See `_MaxPoolNd`.

    """

    __constants__ = _options = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode


class LPPool1d(_LPPoolNd, call="lp_pool1d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over one axis."""


class LPPool2d(_LPPoolNd, call="lp_pool2d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over two axes."""


class LPPool3d(_LPPoolNd, call="lp_pool3d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over three axes."""


class _AdaptiveMaxPoolNd(Applied):
    """The base of maximum pooling to a given size."""

    __constants__ = _options = ["output_size", "return_indices"]
    _shown = ["output_size"]

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, call="adaptive_max_pool1d(input)"):
    """Take maxima so that one axis gets a given size."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, call="adaptive_max_pool2d(input)"):
    """Take maxima so that two axes get given sizes."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, call="adaptive_max_pool3d(input)"):
    """Take maxima so that three axes get given sizes."""


class _AdaptiveAvgPoolNd(Applied):
    """The base of average pooling to a given size."""

    __constants__ = _options = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool1d(input)"):
    """Take means so that one axis gets a given size."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool2d(input)"):
    """Take means so that two axes get given sizes."""


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool3d(input)"):
    """Take means so that three axes get given sizes."""
