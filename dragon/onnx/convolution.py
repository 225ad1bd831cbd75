"""Convolutions."""
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
        after.append(max(int(missing), 0))
    return after


@maps("conv_forward")
def conv_forward(w, x, weight, bias, size, stride, padding, dilation, groups):
    window = weight.shape[2:]
    after = window_padding(x.shape[2:], size, window, stride, padding, dilation)
    return w.Conv(x, weight, bias, kernel_shape=list(window), strides=stride, pads=padding + after,
                  dilations=dilation, group=groups)


@maps("conv_backward_data")
def conv_backward_data(w, dy, weight, bias, size, stride, padding, dilation, groups):
    window = weight.shape[2:]
    extra = []
    for axis, places in enumerate(size):
        reach = (window[axis] - 1) * dilation[axis] + 1
        extra.append(int(places - ((dy.shape[2 + axis] - 1) * stride[axis] - 2 * padding[axis] + reach)))
    after = padding
    if any(not 0 <= more < most for more, most in zip(extra, stride)):
        after, extra = [pad - more for pad, more in zip(padding, extra)], [0] * len(extra)
    return w.ConvTranspose(dy, weight, bias, kernel_shape=list(window), strides=stride, pads=padding + after,
                           dilations=dilation, group=groups, output_padding=extra if any(extra) else None)
