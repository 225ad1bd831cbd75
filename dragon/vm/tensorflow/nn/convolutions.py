"""Convolutions in TensorFlow's layouts: strides by axis of the input, paddings by name or by axis."""
from dragon.vm.guest import named
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.convolution import KERNEL, channels_first, convolve, convolve_each, in_format, paddings
from dragon.vm.shared.windows.geometry import spatial_of, with_spatial
from dragon.vm.tensorflow.core.shape_checks import group_count, require_depth, require_gradient
from dragon.vm.tensorflow.core.windows import by_axis, explicit_padding, layout


def _convolve(x, kernel, strides, padding, data_format, dilations, count, each=False):
    x, kernel = take(x), take(kernel)
    if x.ndim != count + 2 or kernel.ndim != count + 2:
        raise ValueError(f"A convolution over {count} axes takes tensors of rank {count + 2}. Received: input of shape "
                         f"{tuple(x.shape)}, filters of shape {tuple(kernel.shape)}")
    kind = layout(data_format, count)
    strides = by_axis(strides, count, kind, "strides")
    dilations = by_axis(dilations, count, kind, "dilations")
    pads = explicit_padding(padding, count, kind)
    run = convolve_each if each else convolve
    if pads is None:
        return run(x, kernel, None, strides, padding.lower(), kind, dilations)
    x = in_format(_pad(channels_first(x, kind), pads), kind)
    return run(x, kernel, None, strides, "valid", kind, dilations)


def _pad(x, pads):
    """Return an image with zeros around its spatial axes."""
    widths = [number for before, after in reversed(list(zip(*pads))) for number in (before, after)]
    return ops.pad(x, widths)


def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Convolve (batch, width, channels) with filters of (width, channels, filters).

    Parameters
    ----------
    input : Tensor
        The input; also with several axes of batches.
    filters : Tensor
        The filters.
    stride : Union[int, Sequence[int]]
        Steps.
    data_format : str, optional, default="NWC"
        Or "NCW".

    """
    return _batched(input, 3, lambda x: _convolve(x, filters, stride, padding, data_format, dilations, 1))


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Convolve (batch, height, width, channels) with filters of (height, width, channels, filters); see `conv1d`."""
    return _batched(input, 4, lambda x: _convolve(x, filters, strides, padding, data_format, dilations, 2))


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """Convolve images of three axes with filters of (depth, height, width, channels, filters); see `conv1d`."""
    return _convolve(input, filters, strides, padding, data_format, dilations, 3)


def _batched(x, rank, run):
    """Return what a function of one axis of batches makes of a tensor with several."""
    x = take(x)
    if x.ndim <= rank:
        return run(x)
    outer = tuple(x.shape)[:x.ndim - rank + 1]
    made = run(ops.reshape(x, (-1, *tuple(x.shape)[x.ndim - rank + 1:])))
    return ops.reshape(made, (*outer, *tuple(made.shape)[1:]))


def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """Convolve over as many axes as the filters have; see `conv1d`."""
    count = take(filters).ndim - 2
    return _convolve(input, filters, strides, padding, data_format, dilations, count)


def atrous_conv2d(value, filters, rate, padding, name=None):
    """Convolve with filters that have gaps of `rate`; see `conv2d`."""
    return conv2d(value, filters, 1, padding, dilations=rate)


def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolve each channel by itself with filters of (height, width, channels, multiplier); see `conv2d`."""
    return _convolve(input, filter, strides, padding, data_format, dilations, 2, each=True)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
                     name=None):
    """Convolve each channel by itself, then mix the channels at each place; see `conv2d`."""
    made = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(made, pointwise_filter, 1, "VALID", data_format or "NHWC")


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """Return the gradient that a convolution with these filters has with respect to its input.

    Parameters
    ----------
    input : Tensor
        What stands where the convolution's result would.
    filters : Tensor
        (window..., channels of the result, channels of the input).
    output_shape : Sequence[int]
        The shape of the result.
    strides : Union[int, Sequence[int]]
        Steps.
    data_format : str, optional
        As of convolutions.

    """
    x, kernel = take(input), take(filters)
    count = kernel.ndim - 2
    kind = layout(data_format, count)
    strides, dilations = by_axis(strides, count, kind, "strides"), by_axis(dilations, count, kind, "dilations")
    if x.ndim != count + 2:
        raise ValueError(f"`input` must have rank {count + 2}, as `filters` have. Received: input of shape "
                         f"{tuple(x.shape)}, filters of shape {tuple(kernel.shape)}")
    require_depth(x, kernel.shape[-1], kind)
    shape = as_ints(output_shape)
    if not isinstance(shape, list) or len(shape) not in (count, count + 2):
        raise ValueError(f"`output_shape` must have {count} or {count + 2} entries. Received: "
                         f"output_shape={output_shape}")
    if len(shape) == count:
        shape = with_spatial(tuple(x.shape), kernel.shape[-2], shape, kind)
    wanted, window = spatial_of(shape, kind), tuple(kernel.shape)[:-2]
    explicit = explicit_padding(padding, count, kind)
    require_gradient(x, shape, window, strides, dilations, explicit or padding.lower(), kind)
    groups = group_count(shape[-1 if kind == "channels_last" else 1], kernel.shape[-2])
    pads = explicit or paddings(wanted, window, strides, dilations, padding.lower())
    before = [0] * count if pads[0] == 0 else pads[0]
    sizes = spatial_of(x.shape, kind)
    full = [(size - 1) * stride + (places - 1) * gap + 1
            for size, stride, places, gap in zip(sizes, strides, window, dilations)]
    made = ops.conv_transpose(channels_first(x, kind), ops.permute(kernel, KERNEL[kernel.ndim]), None, strides,
                              [0] * count, [max(cut + wish - own, 0) for cut, wish, own in zip(before, wanted, full)],
                              groups, dilations)
    for axis, (cut, wish) in enumerate(zip(before, wanted), start=2):
        made = ops.narrow(made, axis, cut, wish)
    return in_format(made, kind)


def _transposed(name, kind):
    """Return the transpose of a convolution, in a layout unless another one is named."""
    def function(input, filters, output_shape, strides, padding="SAME", data_format=kind, dilations=None, name=None):
        return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations)
    return named(function, f"{name}_transpose", f"Transpose `{name}`; see `conv_transpose`.")


conv1d_transpose, conv2d_transpose, conv3d_transpose = (
    _transposed(name, kind) for name, kind in (("conv1d", "NWC"), ("conv2d", "NHWC"), ("conv3d", "NDHWC")))
