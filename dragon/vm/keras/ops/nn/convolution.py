"""Convolutions of channels-last and channels-first images: views hand them to the engine without a copy."""
from dragon.vm.keras.core.config import image_data_format
from dragon.vm.keras.ops.common import as_list, cast_to, dtype_of, operation, ops, result_type, tensor


def standard_format(data_format):
    """Return a data format that was asked for, the configured one for None."""
    data_format = image_data_format() if data_format is None else str(data_format).lower()
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                         f"Received: data_format={data_format}")
    return data_format


def channels_to_front(x, data_format):
    """Return images with their channels after the batch, as a view."""
    return x if data_format == "channels_first" else ops.permute(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])


def channels_to_back(y, data_format):
    """Return images with their channels where the format has them, as a view."""
    return y if data_format == "channels_first" else ops.permute(y, [0, *range(2, y.ndim), 1])


def same_padding(size, kernel, stride):
    """Return how many zeros stand before and after, so that there are ceil(size / stride) windows."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def _check(x, padding, rank=None):
    if x.ndim not in (3, 4, 5):
        raise ValueError(f"Input rank not supported: {x.ndim}. Expected values are [3, 4, 5]. "
                         f"Received: inputs.shape={tuple(x.shape)}")
    if rank is not None and x.ndim - 2 > rank:
        raise ValueError(f"`inputs` rank must be 3 (1D conv) or 4 (2D conv). Received: {x.ndim}.")
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
        raise ValueError(f"`padding` must be 'valid' or 'same'. Received: padding={padding}")
    return padding.lower()


def _convolve(x, weight, strides, padding, dilation_rate, groups):
    """Convolve channels-first images with weights of the engine's order."""
    axes = x.ndim - 2
    strides, dilation = as_list(strides, axes, "strides"), as_list(dilation_rate, axes, "dilation_rate")
    spans = [(size - 1) * step + 1 for size, step in zip(weight.shape[2:], dilation)]
    if padding == "valid":
        pairs = [(0, 0)] * axes
    else:
        pairs = [same_padding(*how) for how in zip(x.shape[2:], spans, strides)]
    empty = [size + sum(pair) < span for size, pair, span in zip(x.shape[2:], pairs, spans)]
    if any(empty):
        raise ValueError("The convolution operation resulted in an empty output. The input is too small for the "
                         f"kernel size, strides, dilation rate and padding. Received: inputs of sizes "
                         f"{tuple(x.shape[2:])}, kernel of sizes {tuple(weight.shape[2:])}, strides={strides}, "
                         f"dilation_rate={dilation}, padding={padding}")
    return ops.conv(x, weight, None, strides, [pair[0] for pair in pairs], dilation, groups,
                    [pair[1] for pair in pairs])


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
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    dilation_rate : Union[int, Sequence[int]], optional, default=1
        Distance of kernel elements.

    Returns
    -------
    Tensor
        Images of the same format.

    """
    data_format = standard_format(data_format)
    inputs, kernel = _operands(inputs, kernel)
    padding = _check(inputs, padding)
    x = channels_to_front(inputs, data_format)
    if kernel.ndim != x.ndim or kernel.shape[-2] == 0 or x.shape[1] % kernel.shape[-2]:
        raise ValueError("The number of input channels must be evenly divisible by the kernel's. "
                         f"Received: inputs.shape={tuple(inputs.shape)}, kernel.shape={tuple(kernel.shape)}, "
                         f"data_format={data_format}")
    weight = ops.permute(kernel, [kernel.ndim - 1, kernel.ndim - 2, *range(kernel.ndim - 2)])
    y = _convolve(x, weight, strides, padding, dilation_rate, x.shape[1] // kernel.shape[-2])
    return channels_to_back(y, data_format)


def _depthwise_weight(kernel, channels, what):
    if kernel.shape[-2] != channels:
        raise ValueError(f"The kernel must have as many input channels as the inputs. Received: {channels} channels, "
                         f"{what}.shape={tuple(kernel.shape)}")
    moved = ops.permute(kernel, [kernel.ndim - 2, kernel.ndim - 1, *range(kernel.ndim - 2)])
    return ops.reshape(moved, (-1, 1, *kernel.shape[:-2]))


@operation
def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Convolve each channel with its own kernels: sizes, channels, how many; else as `conv`."""
    data_format = standard_format(data_format)
    inputs, kernel = _operands(inputs, kernel)
    padding = _check(inputs, padding, 2)
    x = channels_to_front(inputs, data_format)
    weight = _depthwise_weight(kernel, x.shape[1], "kernel")
    return channels_to_back(_convolve(x, weight, strides, padding, dilation_rate, x.shape[1]), data_format)


@operation
def separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None,
                   dilation_rate=1):
    """Convolve each channel with its own kernels, then mix the channels; else as `conv`."""
    data_format = standard_format(data_format)
    inputs, depthwise_kernel, pointwise_kernel = _operands(inputs, depthwise_kernel, pointwise_kernel)
    padding = _check(inputs, padding, 2)
    x = channels_to_front(inputs, data_format)
    weight = _depthwise_weight(depthwise_kernel, x.shape[1], "depthwise_kernel")
    x = _convolve(x, weight, strides, padding, dilation_rate, x.shape[1])
    rank = pointwise_kernel.ndim
    weight = ops.permute(pointwise_kernel, [rank - 1, rank - 2, *range(rank - 2)])
    return channels_to_back(_convolve(x, weight, 1, "valid", 1, 1), data_format)


def transposed_size(size, kernel, stride, padding, output_padding, dilation=1):
    """Return the size that a transposed convolution gives.

    Parameters
    ----------
    size, kernel, stride : int
        Sizes of image and kernel, and the step.
    padding : str
        "valid" or "same".
    output_padding : Optional[int]
        What is added; None for what a convolution of the same arguments would come from.
    dilation : int, optional, default=1
        Distance of kernel elements.

    Returns
    -------
    int
        The size.

    """
    span = (kernel - 1) * dilation + 1
    if output_padding is None:
        return size * stride if padding == "same" else size * stride + max(span - stride, 0)
    if padding == "same":
        return (size - 1) * stride + span - 2 * (span // 2) + output_padding
    return (size - 1) * stride + span + output_padding


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
    padding : str, optional, default="valid"
        "valid" or "same".
    output_padding : Union[int, Sequence[int]], optional
        How much larger the results are than they must be.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.
    dilation_rate : Union[int, Sequence[int]], optional, default=1
        Distance of kernel elements.

    Returns
    -------
    Tensor
        Images of the same format.

    """
    data_format = standard_format(data_format)
    inputs, kernel = _operands(inputs, kernel)
    padding = _check(inputs, padding)
    x, axes = channels_to_front(inputs, data_format), inputs.ndim - 2
    if kernel.ndim != x.ndim or kernel.shape[-1] != x.shape[1]:
        raise ValueError("The number of input channels must match the last axis of the kernel. "
                         f"Received: inputs.shape={tuple(inputs.shape)}, kernel.shape={tuple(kernel.shape)}, "
                         f"data_format={data_format}")
    strides, dilation = as_list(strides, axes, "strides"), as_list(dilation_rate, axes, "dilation_rate")
    extra = [None] * axes if output_padding is None else as_list(output_padding, axes, "output_padding")
    weight = ops.permute(kernel, [kernel.ndim - 1, kernel.ndim - 2, *range(kernel.ndim - 2)])
    before, after, cuts, fills = [], [], [], []
    for size, length, stride, step, more in zip(x.shape[2:], weight.shape[2:], strides, dilation, extra):
        span, wanted = (length - 1) * step + 1, transposed_size(size, length, stride, padding, more, step)
        front = same_padding(wanted, span, stride)[0] if padding == "same" else 0
        rest = wanted - ((size - 1) * stride + span - 2 * front)
        fits = 0 <= rest < max(stride, step)
        before.append(front)
        after.append(rest if fits else 0)
        cuts.append(rest if rest < 0 else 0)
        fills.append(rest if rest > 0 and not fits else 0)
    y = ops.conv_transpose(x, weight, None, strides, before, after, 1, dilation)
    for axis, cut in enumerate(cuts, 2):
        y = ops.slice(y, axis, 0, cut) if cut else y
    if any(fills):
        y = ops.pad(y, [item for fill in reversed(fills) for item in (0, fill)])
    return channels_to_back(y, data_format)
