"""Pooling layers."""
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torch.nn.modules.utils import _pair, _single, _triple


class _Windowed(Applied):
    """A layer of windows, whose step is by default their size; classes with `_of` keep a number for each axis."""

    _of = None

    def _settle(self):
        self.stride = self.kernel_size if self.stride is None else self.stride
        for name in ("kernel_size", "stride", "padding") if self._of else ():
            setattr(self, name, self._of(getattr(self, name)))


class _MaxPoolNd(_Windowed, takes="kernel_size, stride=None, padding=0, dilation=1, return_indices=False, "
                                  "ceil_mode=False"):
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

    _shown = ["kernel_size", "stride", "padding", "dilation", "ceil_mode"]
    return_indices: bool
    ceil_mode: bool


class MaxPool1d(_MaxPoolNd, call="max_pool1d(input)"):
    """Take the maximum within a window over one axis."""


class MaxPool2d(_MaxPoolNd, call="max_pool2d(input)"):
    """Take the maximum within a window over two axes: input `(N, C, H, W)` or `(C, H, W)`.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, int]]
        Size of the window.
    stride : Union[int, Tuple[int, int]], optional
        Step of the window; its size by default.
    padding : Union[int, Tuple[int, int]], optional, default=0
        Added on both sides, less than any number.
    dilation : Union[int, Tuple[int, int]], optional, default=1
        Step within the window.
    return_indices : bool, optional, default=False
        Return, too, where in the input the maxima are.
    ceil_mode : bool, optional, default=False
        Whether windows that reach over the end count.

    Examples
    --------
    >>> pool = nn.MaxPool2d(2)
    >>> pool(torch.arange(16.0).view(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])

    """


class MaxPool3d(_MaxPoolNd, call="max_pool3d(input)"):
    """Take the maximum within a window over three axes."""


class _MaxUnpoolNd(_Windowed):
    """The base of what undoes maximum pooling."""


class MaxUnpool1d(_MaxUnpoolNd, call="max_unpool1d(input, indices, output_size=None; kernel_size, stride=None, "
                                     "padding=0)"):
    """Put maxima back where MaxPool1d found them, zeros elsewhere."""

    _of = staticmethod(_single)


class MaxUnpool2d(_MaxUnpoolNd, call="max_unpool2d(input, indices, output_size=None; kernel_size, stride=None, "
                                     "padding=0)"):
    """Put maxima back where MaxPool2d found them, zeros elsewhere."""

    _of = staticmethod(_pair)


class MaxUnpool3d(_MaxUnpoolNd, call="max_unpool3d(input, indices, output_size=None; kernel_size, stride=None, "
                                     "padding=0)"):
    """Put maxima back where MaxPool3d found them, zeros elsewhere."""

    _of = staticmethod(_triple)


class _AvgPoolNd(_Windowed):
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

    _shown = ["kernel_size", "stride", "padding"]


class AvgPool1d(_AvgPoolNd, call="avg_pool1d(input; kernel_size, stride=None, padding=0, ceil_mode=False, "
                                 "count_include_pad=True)"):
    """Take the mean within a window over one axis."""

    _of = staticmethod(_single)


class AvgPool2d(_AvgPoolNd, call="avg_pool2d(input; kernel_size, stride=None, padding=0, ceil_mode=False, "
                                 "count_include_pad=True, divisor_override=None)"):
    """Take the mean within a window over two axes: input `(N, C, H, W)` or `(C, H, W)`.

    Parameters
    ----------
    kernel_size : Union[int, Tuple[int, int]]
        Size of the window.
    stride : Union[int, Tuple[int, int]], optional
        Step of the window; its size by default.
    padding : Union[int, Tuple[int, int]], optional, default=0
        Zeros added on both sides.
    ceil_mode : bool, optional, default=False
        Whether windows that reach over the end count.
    count_include_pad : bool, optional, default=True
        Whether zeros of the padding count.
    divisor_override : int, optional
        What is divided by, in place of the number of elements.

    Examples
    --------
    >>> pool = nn.AvgPool2d(2)
    >>> pool(torch.arange(16.0).view(1, 1, 4, 4))
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])

    """


class AvgPool3d(_AvgPoolNd, call="avg_pool3d(input; kernel_size, stride=None, padding=0, ceil_mode=False, "
                                 "count_include_pad=True, divisor_override=None)"):
    """Take the mean within a window over three axes."""

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


class _LPPoolNd(Applied, takes="norm_type, kernel_size, stride=None, ceil_mode=False"):
    """The base of power-average pooling.

    Parameters
    ----------
    norm_type : float
        The norm's exponent.
    kernel_size, stride, ceil_mode
        See `_MaxPoolNd`.

    """


class LPPool1d(_LPPoolNd, call="lp_pool1d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over one axis."""


class LPPool2d(_LPPoolNd, call="lp_pool2d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over two axes."""


class LPPool3d(_LPPoolNd, call="lp_pool3d(input; norm_type=float(self.norm_type))"):
    """Take a norm within a window over three axes."""


class _AdaptiveMaxPoolNd(Applied, takes="output_size, return_indices=False"):
    """The base of maximum pooling to a given size."""

    _shown = ["output_size"]


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, call="adaptive_max_pool1d(input)"):
    """Take maxima so that one axis gets a given size."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, call="adaptive_max_pool2d(input)"):
    """Take maxima so that two axes get given sizes."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, call="adaptive_max_pool3d(input)"):
    """Take maxima so that three axes get given sizes."""


class _AdaptiveAvgPoolNd(Applied, takes="output_size"):
    """The base of average pooling to a given size."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool1d(input)"):
    """Take means so that one axis gets a given size."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool2d(input)"):
    """Take means so that two axes get given sizes: `(N, C, H, W)` becomes `(N, C, *output_size)`.

    Parameters
    ----------
    output_size : Union[int, Tuple[Optional[int], Optional[int]]]
        Height and width; None leaves one as it is.

    Examples
    --------
    >>> nn.AdaptiveAvgPool2d((1, 1))(torch.ones(2, 8, 7, 5)).shape
    torch.Size([2, 8, 1, 1])

    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, call="adaptive_avg_pool3d(input)"):
    """Take means so that three axes get given sizes."""
