"""Convolutions in Keras's layouts on the engine's: axes change places without a copy, as tensors here never change."""
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.geometry import each_axis, same_padding, spatial_of, spread, transposed_shape

# From (batch, spatial..., channels) to (batch, channels, spatial...), and back, by the number of axes.
TO_FIRST = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
TO_LAST = {3: (0, 2, 1), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
# From (window..., in, out) to (out, in, window...).
KERNEL = {3: (2, 1, 0), 4: (3, 2, 0, 1), 5: (4, 3, 0, 1, 2)}
_permute, _conv = ops.permuted, ops.conv


def channels_first(x, data_format):
    """Return an image or its like as the engine sees it."""
    return _permute(x, TO_FIRST[x.ndim]) if data_format == "channels_last" else x


def in_format(x, data_format, activation=None):
    """Return the engine's result as the user sees it, after an activation that sees one element at a time."""
    x = x if activation is None else activation(x)
    return _permute(x, TO_LAST[x.ndim]) if data_format == "channels_last" else x


def channels_of(x, data_format):
    """Return the number of channels."""
    return x.shape[-1 if data_format == "channels_last" else 1]


def paddings(sizes, window, strides, dilation, padding):
    """Return the places before and after each axis that a padding by name adds."""
    if padding == "valid":
        return 0, None
    if padding == "causal":
        return [spread(size, gap) - 1 for size, gap in zip(window, dilation)], [0] * len(window)
    pads = [same_padding(*numbers) for numbers in zip(sizes, window, strides, dilation)]
    return [before for before, _ in pads], [after for _, after in pads]


def require_channels(x, expected, data_format):
    """Raise unless an input has as many channels as a kernel is for."""
    channels = channels_of(x, data_format)
    if channels != expected:
        other = "channels_first" if data_format == "channels_last" else "channels_last"
        hint = (f" With data_format='{other}' they would: the input's shape is {tuple(x.shape)}."
                if channels_of(x, other) == expected else f" The input's shape is {tuple(x.shape)}.")
        raise ValueError("The number of input channels must match the kernel's input channels. Received: input "
                         f"channels={channels}, kernel input channels={expected}, data_format='{data_format}'.{hint}")


def convolve(x, kernel, bias, strides, padding, data_format, dilation, activation=None):
    """Convolve; groups follow from the channels of the two.

    Parameters
    ----------
    x : Tensor
        (batch, spatial..., channels), or as the data format says.
    kernel : Tensor
        (window..., channels / groups, filters).
    bias : Optional[Tensor]
        One number per filter.
    strides, dilation : Union[int, Sequence[int]]
        One number for all spatial axes, or one for each.
    padding : str
        "valid", "same" or "causal".
    data_format : str
        "channels_last" or "channels_first".
    activation : Optional[Callable]
        Applied where the engine can join it to the convolution; may see one element at a time only.

    Returns
    -------
    Tensor
        In the same layout as the input.

    """
    shape = tuple(kernel.shape)
    window, depth = shape[:-2], shape[-2]
    channels = channels_of(x, data_format)
    if channels % depth:
        require_channels(x, depth, data_format)
    strides, dilation = each_axis(strides, len(window)), each_axis(dilation, len(window))
    before, after = paddings(spatial_of(x.shape, data_format), window, strides, dilation, padding)
    made = _conv(channels_first(x, data_format), _permute(kernel, KERNEL[kernel.ndim]), bias, strides, before,
                 dilation, channels // depth, after)
    return in_format(made, data_format, activation)


def convolve_each(x, kernel, bias, strides, padding, data_format, dilation, activation=None):
    """Convolve every channel by itself with a kernel of (window..., channels, multiplier); see `convolve`."""
    *window, channels, multiplier = tuple(kernel.shape)
    require_channels(x, channels, data_format)
    last = kernel.ndim - 1
    kernel = ops.reshape(_permute(kernel, (last - 1, last, *range(last - 1))), (channels * multiplier, 1, *window))
    strides, dilation = each_axis(strides, len(window)), each_axis(dilation, len(window))
    before, after = paddings(spatial_of(x.shape, data_format), window, strides, dilation, padding)
    made = _conv(channels_first(x, data_format), kernel, bias, strides, before, dilation, channels, after)
    return in_format(made, data_format, activation)


def convolve_transposed(x, kernel, bias, strides, padding, output_padding, data_format, dilation, activation=None):
    """Apply the adjoint of a convolution with a kernel of (window..., filters, channels); see `convolve`."""
    *window, filters, channels = tuple(kernel.shape)
    require_channels(x, channels, data_format)
    count = len(window)
    strides, dilation = each_axis(strides, count), each_axis(dilation, count)
    wanted = spatial_of(transposed_shape(x.shape, filters, window, strides, padding, output_padding, data_format,
                                         dilation), data_format)
    before, more, after = [], [], []
    for size, wish, places, stride, gap in zip(spatial_of(x.shape, data_format), wanted, window, strides, dilation):
        surplus = (size - 1) * stride + spread(places, gap) - wish
        cut = max(surplus, 0) // 2 if padding == "same" else 0
        before.append(cut)
        # The engine cuts as much at the end as at the start; TensorFlow may cut one place more there.
        more.append(max(2 * cut - surplus, 0))
        after.append(wish if surplus > 2 * cut else None)
    made = ops.conv_transpose(channels_first(x, data_format), _permute(kernel, KERNEL[kernel.ndim]), bias, strides,
                              before, more, 1, dilation)
    made = in_format(made, data_format, activation)
    for axis, size in enumerate(after, start=1 if data_format == "channels_last" else 2):
        made = made if size is None else ops.narrow(made, axis, 0, size)
    return made


def convolve_separable(x, depthwise, pointwise, bias, strides, padding, data_format, dilation, activation=None):
    """Convolve every channel by itself, then mix the channels at each place; see `convolve`."""
    made = convolve_each(x, depthwise, None, strides, padding, data_format, dilation)
    return convolve(made, pointwise, bias, 1, "valid", data_format, 1, activation)
