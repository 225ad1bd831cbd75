"""The largest element, or the mean, of windows that slide over images."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.convolution import channels_first, in_format
from dragon.vm.shared.windows.pooling import average_pool, max_pool as largest
from dragon.vm.tensorflow.core.windows import by_axis, explicit_padding, layout


def _pool(run, x, window, strides, padding, data_format, count, fill=0.0):
    x = take(x)
    count = count or x.ndim - 2
    if x.ndim != count + 2:
        raise ValueError(f"A pool over {count} axes takes a tensor of rank {count + 2}. Received: input of shape "
                         f"{tuple(x.shape)}")
    kind = layout(data_format, count)
    window = by_axis(window, count, kind, "ksize")
    strides = window if strides is None else by_axis(strides, count, kind, "strides")
    pads = explicit_padding(padding, count, kind)
    if pads is None:
        return run(x, window, strides, padding.lower(), kind)
    widths = [number for before, after in reversed(list(zip(*pads))) for number in (before, after)]
    x = in_format(ops.pad(channels_first(x, kind), widths, value=fill), kind)
    return run(x, window, strides, "valid", kind)


def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """Return the largest element of each window.

    Parameters
    ----------
    input : Tensor
        (batch, spatial axes..., channels), or as the layout says.
    ksize, strides : Union[int, Sequence[int]]
        Sizes and steps of windows.
    data_format : str, optional
        "NHWC" and its like by default, or "NCHW" and its like.

    """
    return _pool(largest, input, ksize, strides, padding, data_format, None, fill=float("-inf"))


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """Return the largest element of each window along one axis; see `max_pool`."""
    return _pool(largest, input, ksize, strides, padding, data_format, 1, fill=float("-inf"))


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Return the largest element of each window over two axes; see `max_pool`."""
    return _pool(largest, input, ksize, strides, padding, data_format, 2, fill=float("-inf"))


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Return the largest element of each window over three axes; see `max_pool`."""
    return _pool(largest, input, ksize, strides, padding, data_format, 3, fill=float("-inf"))


def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """Return the mean of each window; see `max_pool`."""
    return _pool(average_pool, input, ksize, strides, padding, data_format, None)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """Return the mean of each window along one axis; see `max_pool`."""
    return _pool(average_pool, input, ksize, strides, padding, data_format, 1)


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Return the mean of each window over two axes; see `max_pool`."""
    return _pool(average_pool, input, ksize, strides, padding, data_format, 2)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Return the mean of each window over three axes; see `max_pool`."""
    return _pool(average_pool, input, ksize, strides, padding, data_format, 3)


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None,
         name=None):
    """Return the largest elements ("MAX") or means ("AVG") of windows; see `max_pool`."""
    if dilations is not None and any(number != 1 for number in dilations):
        raise NotImplementedError(f"tf.nn.pool: windows have no gaps. Received: dilations={dilations}")
    run = {"MAX": largest, "AVG": average_pool}.get(pooling_type)
    if run is None:
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
    return _pool(run, input, window_shape, 1 if strides is None else strides, padding, data_format, len(window_shape))
