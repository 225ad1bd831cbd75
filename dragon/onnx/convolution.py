"""Convolutions."""
from dragon.onnx.size import Size, make_size
from dragon.onnx.source import is_dynamic
from dragon.onnx.table import maps


def window_padding(image, size, window, stride, before, dilation):
    """Return the padding after the last element of each axis that gives a result's size.

    It is that before the first one wherever that gives the same size, as it does for most.
    """
    after = []
    for axis, places in enumerate(size):
        reach = (window[axis] - 1) * dilation[axis] + 1
        room = image[axis] + 2 * before[axis] - reach
        if room // stride[axis] + 1 == places:
            after.append(before[axis])
            continue
        missing = (places - 1) * stride[axis] + reach - image[axis] - before[axis]
        samples = missing.samples if isinstance(missing, Size) else (missing,)
        after.append(make_size(max(sample, 0) for sample in samples))
    return after


@maps("conv_forward")
def conv_forward(w, x, weight, bias, size, stride, padding, dilation, groups):
    window = weight.shape[2:]
    after = window_padding(x.shape[2:], size, window, stride, padding, dilation)
    if is_dynamic((*padding, *after)):
        x = w.Pad(x, [0, 0, *padding, 0, 0, *after], w.constant(0, x.dtype))
        padding = after = [0] * len(window)
    return w.Conv(x, weight, bias, kernel_shape=list(window), strides=stride, pads=padding + after,
                  dilations=dilation, group=groups)


@maps("conv_backward_data")
def conv_backward_data(w, dy, weight, bias, size, stride, padding, dilation, groups):
    """A transposed convolution; what it adds at the end may be more than ONNX's output_padding may say."""
    window = list(weight.shape[2:])
    whole = [(dy.shape[2 + axis] - 1) * stride[axis] + (window[axis] - 1) * dilation[axis] + 1
             for axis in range(len(size))]
    extra = [int(places - (length - 2 * pad)) for places, length, pad in zip(size, whole, padding)]
    options = {"kernel_shape": window, "strides": stride, "dilations": dilation, "group": groups}
    if all(0 <= more < steps for more, steps in zip(extra, stride)):
        return w.ConvTranspose(dy, weight, bias, pads=padding + padding, output_padding=extra if any(extra) else None,
                               **options)
    ends = [int(places + pad - length) for places, length, pad in zip(size, whole, padding)]
    y = w.ConvTranspose(dy, weight, **options)
    y = w.Pad(y, [0, 0, *(-pad for pad in padding), 0, 0, *ends], w.constant(0, dy.dtype))
    return y if bias is None else w.Add(y, w.reshape(bias, [1, -1] + [1] * len(size)))
