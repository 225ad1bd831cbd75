"""Convolutions of channels-last and channels-first images."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, result_type, standard_format, tensor
from dragon.vm.shared.windows.convolution import convolve, convolve_each, convolve_separable, convolve_transposed
from dragon.vm.shared.windows.geometry import sliding_shape


def _check_kinds(x, kernel, padding, rank=3):
    """Refuse inputs and kernels of other ranks than they should have, and paddings that are not known."""
    if x.ndim not in (3, 4, 5) or kernel.ndim != x.ndim:
        raise ValueError("Inputs must have rank 3, 4 or 5, and the kernel as many axes. "
                         f"Received: inputs.shape={tuple(x.shape)}, kernel.shape={tuple(kernel.shape)}")
    if x.ndim - 2 > rank:
        raise ValueError(f"`inputs` rank must be 3 (1D conv) or 4 (2D conv). Received: {x.ndim}.")
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
        raise ValueError(f"`padding` must be 'valid' or 'same'. Received: padding={padding}")
    return padding.lower()


def _check(x, kernel, padding, data_format, strides=1, dilation=1, rank=3):
    """Refuse inputs that leave nothing as well."""
    padding = _check_kinds(x, kernel, padding, rank)
    sliding_shape(x.shape, 1, kernel.shape[:-2], strides, padding, data_format, dilation)
    return padding


def _operands(inputs, *kernels):
    inputs, *kernels = map(tensor, (inputs, *kernels))
    dtype = result_type(dtype_of(inputs), *map(dtype_of, kernels))
    return [cast_to(x, dtype) for x in (inputs, *kernels)]


@operation
def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolve sequences, images or volumes.

    Parameters
    ----------
    inputs : Tensor
        The images: batch, sizes, channels ("channels_last") or batch, channels, sizes.
    kernel : Tensor
        Sizes, input channels of a group, output channels.
    strides : Union[int, Sequence[int]], optional, default=1
        Steps.
    padding : str, optional, default="valid"
        "valid" for none, "same" for as many results as steps.

    """
    data_format = standard_format(data_format)
    x, kernel = _operands(inputs, kernel)
    padding = _check(x, kernel, padding, data_format, strides, dilation_rate)
    return convolve(x, kernel, None, strides, padding, data_format, dilation_rate)


@operation
def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolve each channel with its own kernels: sizes, channels, how many; else as `conv`."""
    data_format = standard_format(data_format)
    x, kernel = _operands(inputs, kernel)
    padding = _check(x, kernel, padding, data_format, strides, dilation_rate, 2)
    return convolve_each(x, kernel, None, strides, padding, data_format, dilation_rate)


@operation
def separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None,
                   dilation_rate=1):
    """Convolve each channel with its own kernels, then mix the channels; else as `conv`."""
    data_format = standard_format(data_format)
    x, kernel, pointwise = _operands(inputs, depthwise_kernel, pointwise_kernel)
    padding = _check(x, kernel, padding, data_format, strides, dilation_rate, 2)
    return convolve_separable(x, kernel, pointwise, None, strides, padding, data_format, dilation_rate)


@operation
def conv_transpose(inputs, kernel, strides=1, padding="valid", output_padding=None, data_format=None,
                   dilation_rate=1):
    """Turn a convolution around: the images it would have come from.

    Parameters
    ----------
    inputs : Tensor
        The images.
    kernel : Tensor
        Sizes, output channels, input channels.
    strides : Union[int, Sequence[int]], optional, default=1
        Steps of the convolution.
    output_padding : Union[int, Sequence[int]], optional
        How much larger the results are than they must be.

    """
    data_format = standard_format(data_format)
    x, kernel = _operands(inputs, kernel)
    padding = _check_kinds(x, kernel, padding)
    return convolve_transposed(x, kernel, None, strides, padding, output_padding, data_format, dilation_rate)
